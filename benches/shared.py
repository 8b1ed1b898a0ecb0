"""Code shared by the scripts: UCI engines, and lines of files."""
import atexit
import subprocess
import sys


class Engine:
    """A UCI engine."""

    def __init__(self, command):
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command.split(), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        except OSError as error:
            sys.exit(f"{command}: {error.strerror}")
        # Some engines do not exit when their input is closed.
        atexit.register(self.process.kill)
        self.command, self.options = command, {}
        self.say("uci")
        self.wait_for("uciok")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, word):
        """The lines up to the first that begins with the word."""
        lines = []
        while not lines or not lines[-1].startswith(word):
            lines.append(self.process.stdout.readline())
            if not lines[-1]:
                raise EOFError(f"{self.command} ended where {word} was expected")
        return lines

    def set(self, options):
        for name, value in options.items():
            if self.options.get(name) != value:
                self.say(f"setoption name {name} value {value}")
                self.options[name] = value

    def forget(self):
        """Clears the engine's state."""
        self.say("ucinewgame\nisready")
        self.wait_for("readyok")

    def quit(self):
        self.say("quit")
        self.process.wait()


def read_lines(path):
    try:
        with open(path, encoding="utf-8") as lines:
            return [line.rstrip("\n") for line in lines if line.strip()]
    except FileNotFoundError:
        sys.exit(f"{path}: no such file")
