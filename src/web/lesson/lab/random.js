// Reproducible random numbers from SplitMix64, identical to those in the Rust code. Source: Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators" (2014).

const WORD = 64;
const word = number => BigInt.asUintN(WORD, number);

export class Random {
  #state;

  constructor(seed) {
    this.#state = word(BigInt(seed));
  }

  next() {
    this.#state = word(this.#state + 0x9e3779b97f4a7c15n);
    let mixed = word((this.#state ^ (this.#state >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = word((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }

  /** Returns a number below `bound`, from the high half of the product (Lemire 2019). */
  below(bound) {
    return Number((this.next() * BigInt(bound)) >> 64n);
  }
}

/** Returns the seed with all bits inverted. */
export const inverted = seed => word(~BigInt(seed));
