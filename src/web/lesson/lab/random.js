// Reproducible random numbers: SplitMix64, number for number as the program has it.
// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).

const WORD = 64;
const word = number => BigInt.asUintN(WORD, number);

export class Random {
  #state;

  /** A generator whose numbers follow from a seed of 64 bits. */
  constructor(seed) {
    this.#state = word(BigInt(seed));
  }

  /** The next number, of 64 bits. */
  next() {
    this.#state = word(this.#state + 0x9e3779b97f4a7c15n);
    let mixed = word((this.#state ^ (this.#state >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = word((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }

  /** A number from 0 to below a bound: the high half of the product (Lemire 2019). */
  below(bound) {
    return Number((this.next() * BigInt(bound)) >> 64n);
  }
}

/** The seed whose bits are all the other way round. */
export const inverted = seed => word(~BigInt(seed));
