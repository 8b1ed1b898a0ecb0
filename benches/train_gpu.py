#!/usr/bin/env python3
"""Trains an evaluation network on a graphics card.

Usage: benches/train_gpu.py POSITIONS... -o NETWORK [--from NETWORK] [--hidden N] [--epochs N | --seconds S]

POSITIONS are written by `tabia train export`. NETWORK is a file for `tabia --network`. The architecture,
the optimiser and its settings are those of `tabia train net`. The script needs PyTorch. It uses CUDA if it
is available, and otherwise the processor, which is slow.

The inputs of a batch are a matrix of zeros and ones, which is multiplied by the weights. This takes more
operations than adding up rows, but matrix units perform them about ten times as fast as memory
delivers the rows. All positions stay in the memory of the card, at 135 bytes each.

--seconds stops after this time instead of a number of passes; the rate then depends on the time. --judge
FILE prints the error on positions with known scores after each pass (best scale, odd and even lines).
"""
import argparse
import math
import sys
import time

import numpy
import torch

INPUTS_PER_KING_BUCKET = 768
KING_BUCKETS = 4
INPUTS = KING_BUCKETS * INPUTS_PER_KING_BUCKET
BUCKETS = 8
PIECES = 32
# The columns of the input matrix: unused places of the list of pieces refer to the column after the last input.
COLUMNS = INPUTS + 8
# The integers that represent 1.0 in neurons and in output weights, and the centipawns of an output of 1.0.
QA, QB, SCALE = 255, 256, 400
# Maximum absolute weights, so that integer arithmetic cannot overflow.
LIMIT, OUTPUT_LIMIT = 1.98, 127 / QB
# Ranges of the initial weights.
INPUT_SPREAD, OUTPUT_SPREAD = 0.1, 0.05
# The share of the training during which the learning rate rises.
WARM_UP = 0.01
# Positions that are decoded or evaluated at a time.
PART = 1 << 18
# Positions on which the output biases of the integer network are calibrated.
CALIBRATED_ON = 1 << 15
# Steps between two readings of the clock.
STEPS_AT_ONCE = 50
RECORD = numpy.dtype([("occupied", "<i8"), ("pieces", "u1", 16), ("target", "<f4"), ("views", "u1", (2, 2))])


class Examples:
    """Positions on the card: rows of inputs for both views, output buckets and targets."""

    def __init__(self, records, device):
        count = len(records)
        self.rows = torch.empty((count, 2, PIECES), dtype=torch.int16, device=device)
        self.bucket = torch.empty(count, dtype=torch.int64, device=device)
        self.target = torch.from_numpy(records["target"].copy()).to(device)
        for start in range(0, count, PART):
            part = slice(start, start + PART)
            self.rows[part], self.bucket[part] = decode(records[part], device)

    def __len__(self):
        return len(self.target)


def decode(records, device):
    """The rows of inputs of the side to move and of the enemy, and the output buckets."""
    on_device = lambda field: torch.from_numpy(numpy.ascontiguousarray(records[field])).to(device)
    occupied, nibbles, views = on_device("occupied"), on_device("pieces"), on_device("views").long()
    bits = (occupied[:, None] >> torch.arange(64, device=device)) & 1
    example, square = bits.nonzero(as_tuple=True)
    place = (bits.cumsum(1) - 1)[example, square]
    piece = (nibbles[example, place // 2].long() >> (4 * (place % 2))) & 15
    side, kind = piece >> 3, piece & 7
    rows = torch.full((len(records), 2, PIECES), INPUTS, dtype=torch.int16, device=device)
    for view in range(2):
        mirrored, king_bucket = views[example, view, 0], views[example, view, 1]
        seen = square ^ (7 * mirrored) ^ (56 * view)
        owner = side ^ view
        row = king_bucket * INPUTS_PER_KING_BUCKET + owner * (INPUTS_PER_KING_BUCKET // 2) + 64 * kind + seen
        rows[example, view, place] = row.to(torch.int16)
    return rows, (bits.sum(1) - 2).clamp(min=0) // (PIECES // BUCKETS)


def read(path):
    """The settings of a file of positions, and its training and held-out records."""
    with open(path, "rb") as file:
        line = file.readline().decode().strip()
        if not line.startswith("tabia examples 1; "):
            sys.exit(f"{path} is not written by `tabia train export`")
        fields = dict(field.rsplit(" ", 1) for field in line.split("; ")[1:])
        records = numpy.fromfile(file, dtype=RECORD)
    training, held_out = int(fields["training"]), int(fields["held out"])
    if len(records) != training + held_out:
        sys.exit(f"{path}: {len(records)} positions instead of {training + held_out}; export it again")
    return int(fields["scale"]), records[:training], records[training:]


class Network:
    """The weights. An input's weights are the sum of a row for all king buckets and a row for one king
    bucket."""

    def __init__(self, hidden, device, seed):
        random = torch.Generator().manual_seed(seed)
        spread = lambda limit, *size: (limit * (2 * torch.rand(size, generator=random) - 1)).to(device)
        self.common = torch.zeros((INPUTS_PER_KING_BUCKET, hidden), device=device)
        self.own = spread(INPUT_SPREAD, KING_BUCKETS, INPUTS_PER_KING_BUCKET, hidden)
        self.biases = torch.zeros(hidden, device=device)
        self.outputs = spread(OUTPUT_SPREAD, BUCKETS, 2, hidden)
        self.output_biases = torch.zeros(BUCKETS, device=device)
        self.unused = torch.zeros((COLUMNS - INPUTS, hidden), device=device)
        self.matrix = torch.empty(0)

    def load(self, path):
        """Replaces the first neurons by those of a network file; added neurons do not change the output."""
        with open(path, "rb") as file:
            line = file.readline().decode().strip()
            numbers = file.read()
        shape = [int(field.split()[-1]) for field in line.split("; ")[1:]]
        if not line.startswith("tabia network 3; ") or shape[0] != KING_BUCKETS or shape[2] != BUCKETS:
            sys.exit(f"{path} is not a network with {KING_BUCKETS} zones and {BUCKETS} buckets")
        hidden = shape[1]
        if hidden > len(self.biases):
            sys.exit(f"{path} has {hidden} neurons: choose --hidden {hidden} or more")
        words = torch.from_numpy(numpy.frombuffer(numbers[: -4 * BUCKETS], "<i2").astype("f4")).reshape(-1, hidden)
        biases = torch.from_numpy(numpy.frombuffer(numbers[-4 * BUCKETS :], "<i4").astype("f4"))
        self.own[..., :hidden] = (words[:INPUTS] / QA).reshape(KING_BUCKETS, -1, hidden)
        self.biases[:hidden] = words[INPUTS] / QA
        self.outputs.zero_()
        self.outputs[..., :hidden] = (words[INPUTS + 1 :] / QB).reshape(BUCKETS, 2, hidden)
        self.output_biases.copy_(biases / (QA * QB))

    def groups(self, rate, common):
        """The weights with their shares of the learning rate."""
        shares = [(self.own, 1 - common), (self.common, common)]
        shares += [(weights, 1.0) for weights in (self.biases, self.outputs, self.output_biases)]
        for weights, _ in shares:
            weights.requires_grad_(True)
        return [{"params": [weights], "lr": rate * share, "share": share} for weights, share in shares]

    def clip(self):
        with torch.no_grad():
            self.own.copy_((self.own + self.common).clamp_(-LIMIT, LIMIT) - self.common)
            self.biases.clamp_(-LIMIT, LIMIT)
            self.outputs.clamp_(-OUTPUT_LIMIT, OUTPUT_LIMIT)

    def inputs(self):
        return (self.own + self.common).reshape(INPUTS, -1)

    def output(self, rows, bucket):
        """The outputs for a batch; 1.0 means SCALE centipawns."""
        size = len(rows)
        if self.matrix.shape[:1] != (2 * size,):
            self.matrix = torch.empty((2 * size, COLUMNS), device=rows.device)
        self.matrix.zero_().scatter_(1, rows.transpose(0, 1).reshape(2 * size, PIECES).long(), 1.0)
        neurons = torch.addmm(self.biases, self.matrix, torch.cat((self.inputs(), self.unused)))
        active = neurons.clamp(0, 1).square()
        outputs = torch.cat((active[:size], active[size:]), 1) @ self.outputs.reshape(BUCKETS, -1).t()
        return (outputs + self.output_biases).gather(1, bucket[:, None])[:, 0]

    def outputs_of(self, examples):
        with torch.no_grad():
            parts = [slice(start, start + PART // 4) for start in range(0, len(examples), PART // 4)]
            return torch.cat([self.output(examples.rows[part], examples.bucket[part]) for part in parts])

    def rounded(self):
        """The integer weights of inputs, biases and outputs."""
        with torch.no_grad():
            weights = (QA * self.inputs(), QA * self.biases, QB * self.outputs)
            return [tensor.round().double() for tensor in weights]

    def save(self, path, examples):
        """Writes integers. The output biases compensate for the average shift that rounding causes."""
        inputs, biases, outputs = self.rounded()
        shifts, counts = torch.zeros(BUCKETS).double(), torch.zeros(BUCKETS).double()
        exact = self.outputs_of(examples)[:CALIBRATED_ON].double()
        padded = torch.cat((inputs, self.unused.double()))
        for start in range(0, len(exact), 1 << 11):
            part = slice(start, min(start + (1 << 11), len(exact)))
            rows, bucket = examples.rows[part].long(), examples.bucket[part]
            values = (padded[rows].sum(2) + biases).clamp(0, QA).square()
            off = exact[part] - (values * outputs[bucket]).sum((1, 2)) / (QA * QA * QB)
            shifts.index_add_(0, bucket.cpu(), off.cpu())
            counts.index_add_(0, bucket.cpu(), torch.ones(len(off)).double())
        # `off` already contains the float bias, so the stored bias replaces it instead of being added to it.
        fallback = self.output_biases.detach().double().cpu()
        output_biases = torch.where(counts > 0, shifts / counts.clamp(min=1), fallback) * (QA * QB)
        words = torch.cat([tensor.reshape(-1) for tensor in (inputs, biases, outputs)])
        with open(path, "wb") as file:
            file.write(f"tabia network 3; zones {KING_BUCKETS}; hidden {len(biases)}; buckets {BUCKETS}\n".encode())
            file.write(words.cpu().numpy().astype("<i2").tobytes())
            file.write(output_biases.round().numpy().astype("<i4").tobytes())


def judged(network, examples):
    """The errors on even and odd positions, at the scale with the least error on the even ones."""
    outputs = network.outputs_of(examples) * SCALE
    errors = lambda scale: (torch.sigmoid(outputs / scale) - examples.target).square()
    scale = min(range(50, 501, 5), key=lambda scale: errors(scale)[0::2].mean().item())
    return scale, errors(scale)[0::2].mean().item(), errors(scale)[1::2].mean().item()


def rate_at(progress, rate, final_rate):
    """Rises briefly, then falls along half a cosine wave."""
    if progress < WARM_UP:
        return rate * progress / WARM_UP
    fall = min(1.0, (progress - WARM_UP) / (1 - WARM_UP))
    return final_rate + (rate - final_rate) * 0.5 * (1 + math.cos(math.pi * fall))


class Training:
    def __init__(self, args, network, examples, held_out, judge, scale):
        self.args, self.network, self.examples = args, network, examples
        self.held_out, self.judge, self.steepness = held_out, judge, SCALE / scale
        groups = network.groups(args.rate, args.common)
        self.adam = torch.optim.AdamW(groups, weight_decay=args.decay, fused=examples.target.is_cuda)
        self.batch = min(args.batch, len(examples))
        self.steps_per_epoch = len(examples) // self.batch
        self.steps, self.start = 0, time.time()

    def progress(self):
        if self.args.seconds:
            return (time.time() - self.start) / self.args.seconds
        return self.steps / (self.args.epochs * self.steps_per_epoch)

    def squares(self, outputs, target):
        return (torch.sigmoid(self.steepness * outputs) - target).square()

    def step(self, chosen):
        examples = self.examples
        outputs = self.network.output(examples.rows[chosen], examples.bucket[chosen])
        error = self.squares(outputs, examples.target[chosen])
        loss = error.mean()
        objective = error.pow(self.args.power / 2).mean() if self.args.power != 2 else loss
        self.adam.zero_grad(set_to_none=True)
        objective.backward()
        self.adam.step()
        self.network.clip()
        self.steps += 1
        return loss.detach()

    def epoch(self):
        """Runs one pass, or less if the time is up; returns the mean loss."""
        order = torch.randperm(len(self.examples), device=self.examples.target.device)
        total, taken = torch.zeros((), device=order.device), 0
        for step in range(self.steps_per_epoch):
            if step % STEPS_AT_ONCE == 0:
                total.item()  # waits for the card, so that the clock is right
                if self.progress() >= 1:
                    break
            rate = rate_at(self.progress(), self.args.rate, self.args.final_rate)
            for group in self.adam.param_groups:
                group["lr"] = rate * group["share"]
            total += self.step(order[step * self.batch : (step + 1) * self.batch])
            taken += 1
        return total.item() / max(taken, 1)

    def report(self, loss):
        held_out = self.squares(self.network.outputs_of(self.held_out), self.held_out.target).mean().item()
        speed = self.steps * self.batch / (time.time() - self.start)
        line = f"pass {self.steps / self.steps_per_epoch:6.2f}: loss {loss:.6f}, held out {held_out:.6f}"
        if self.judge is not None:
            line += ", judge: scale %d, %.5f, %.5f" % judged(self.network, self.judge)
        print(f"{line}, {speed / 1e6:.2f} million/s", flush=True)

    def run(self):
        self.report(0.0)
        while self.progress() < 1:
            loss = self.epoch()
            self.report(loss)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="POSITIONS")
    parser.add_argument("-o", "--output", required=True, metavar="NETWORK")
    parser.add_argument("--from", dest="start", metavar="NETWORK", help="start with these weights")
    parser.add_argument("--hidden", type=int, default=256, help="neurons of each side")
    parser.add_argument("--epochs", type=float, default=20, help="passes over the data")
    parser.add_argument("--seconds", type=float, default=0, help="train for this time instead")
    parser.add_argument("--batch", type=int, default=16384)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--final-rate", type=float, default=1e-6)
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--common", type=float, default=0.5, help="share of a step common to all king buckets")
    parser.add_argument("--power", type=float, default=2.0, help="power of the error to minimise")
    parser.add_argument("--judge", metavar="FILE", help="positions with scores of another engine, as exported")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = arguments()
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    files = [read(path) for path in args.files]
    if len({scale for scale, _, _ in files}) > 1:
        sys.exit("the files of positions have different scales")
    scale = files[0][0]
    training, held_out = (Examples(numpy.concatenate([file[part] for file in files]), device) for part in (1, 2))
    del files
    judge = Examples(numpy.concatenate(read(args.judge)[1:]), device) if args.judge else None
    network = Network(args.hidden, device, args.seed)
    if args.start:
        network.load(args.start)
    print(f"{len(training)} positions to learn from, {len(held_out)} held out; {args.hidden} neurons", flush=True)
    run = Training(args, network, training, held_out, judge, scale)
    try:
        run.run()
    except KeyboardInterrupt:
        print("interrupted")
    network.save(args.output, held_out)
    print(f"network in {args.output}")


if __name__ == "__main__":
    main()
