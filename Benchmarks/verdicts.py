"""The verdicts of a run: each row of limits.py beside its limit or peer, from the figures that the run printed."""
import dataclasses
import statistics

HEADING = 'Limits'
COLUMNS = ['work', 'ours', 'limit or peer', 'ratio', 'goal', 'met']


@dataclasses.dataclass(frozen=True)
class Row:
    """One piece of work: its figure, the figure of its limit or peer, and the goal.

    A figure is named `heading | row | column`, as in the output of the run; where a line that ends in a colon stands
    above the table, `heading | that line | row | column`. With a limit, the goal is a ratio, and only that decides.
    """
    work: str
    # The part of Benchmarks/run that prints the figures.
    part: str
    ours: str
    unit: str
    # The name of the limit or peer, and its figure.
    limit: str | None = None
    of: str | None = None
    at_most: float | None = None
    at_least: float | None = None
    # The number by which the figures are divided to be in `unit`.
    scale: float = 1
    # Whether the figure of ours is a ratio to the limit already.
    is_ratio: bool = False
    # Whether the figure may be none or less, as a difference may.
    is_signed: bool = False

    def goal(self):
        sign, bound = ('≥', self.at_least) if self.at_least is not None else ('≤', self.at_most)
        if bound is None:
            return 'none: reported'
        if self.is_ratio or self.of is not None:
            return f'{sign} {bound:g} ×'
        return f'{sign} {bound:g} {self.unit}, absolute' if self.unit else f'{sign} {bound:g}'


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The result of a row in one run."""
    row: Row
    ours: float | None
    limit: float | None
    # Why there is no figure; empty where the row was measured.
    missing: str = ''
    # Whether the part ran, and printed no such figure.
    is_unprinted: bool = False
    # The lowest and highest ratio of several runs.
    spread: tuple[float, float] | None = None

    @property
    def ratio(self):
        if self.row.is_ratio:
            return self.ours
        return self.ours / self.limit if self.ours is not None and self.limit else None

    @property
    def is_met(self):
        """True or False; None where the row was not measured, or has no goal."""
        row = self.row
        if self.missing or row.at_most is None and row.at_least is None:
            return None
        value = self.ours if self.ratio is None else self.ratio
        if row.at_least is not None:
            return value >= row.at_least
        return value <= row.at_most

    def cells(self):
        row = self.row
        met = {True: 'yes', False: 'no', None: self.missing and f'not measured: {self.missing}'}[self.is_met]
        limit = row.limit or '–'
        if self.limit is not None:
            limit += f': {shown(self.limit, row)}'
        return [
            row.work, '–' if self.ours is None or row.is_ratio else shown(self.ours, row), limit,
            self.ratio_shown(), row.goal(), met]

    def ratio_shown(self):
        if self.ratio is None:
            return '–'
        spread = f' ({self.spread[0]:.2f}–{self.spread[1]:.2f})' if self.spread else ''
        return f'{self.ratio:.2f}{spread}'


def shown(number, row):
    text = f'{number:.0f}' if abs(number) >= 1000 else f'{number:.4g}'
    return f'{text} {row.unit}'.rstrip()


def verdict(row, figures, parts):
    """Returns the verdict of one row.

    A part that did not run is told from one that ran and printed no such figure: the latter is an error of the part,
    or of the row's name for the figure.
    """
    ours, limit = (figures[name] / row.scale if name in figures else None for name in (row.ours, row.of))
    absent = [name for name in [row.ours, row.of] if name and name not in figures]
    if absent and row.part not in parts:
        return Verdict(row, ours, limit, f'not in this run; `Benchmarks/run {row.part}`')
    if absent:
        name = absent[0].replace(' | ', ', ')
        return Verdict(row, ours, limit, f'the part `{row.part}` printed no figure "{name}"', is_unprinted=True)
    if row.of and limit <= 0:
        return Verdict(row, ours, limit, f'the figure of the limit is {limit:g}')
    if ours <= 0 and not row.is_signed:
        return Verdict(row, ours, limit, f'the figure is {ours:g}')
    return Verdict(row, ours, limit)


def together(verdicts):
    """Returns the verdict of one row in several runs: that of the run with the median ratio, with the spread."""
    measured = [each for each in verdicts if not each.missing]
    if not measured:
        return verdicts[-1]
    ordered = sorted(measured, key=lambda each: each.ours if each.ratio is None else each.ratio)
    ratios = [each.ratio for each in ordered]
    spread = (ratios[0], ratios[-1]) if len(ordered) > 1 and None not in ratios else None
    # With an even number of runs, the lower of the two in the middle.
    middle = statistics.median_low(range(len(ordered)))
    return dataclasses.replace(ordered[middle], spread=spread)


def table(verdicts):
    """Returns the lines of the table, and of its summary."""
    lines = ['| ' + ' | '.join(COLUMNS) + ' |', '|---|---:|---|---:|---|---|']
    lines += ['| ' + ' | '.join(each.cells()) + ' |' for each in verdicts]
    met, missed = (sum(each.is_met is is_met for each in verdicts) for is_met in (True, False))
    unmeasured = sum(bool(each.missing) for each in verdicts)
    return [*lines, '', f'Met: {met}. Not met: {missed}. Not measured: {unmeasured}.']
