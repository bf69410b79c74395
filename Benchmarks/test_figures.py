"""Tests of the tables that Benchmarks/figures reads, and of the verdicts on them."""
import glob
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import builds  # noqa: E402
import limits  # noqa: E402
from verdicts import HEADING, Row, table, together, verdict  # noqa: E402

TOOL = os.path.join(FOLDER, 'figures')
loader = importlib.machinery.SourceFileLoader('figures', TOOL)
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader('figures', loader))
# No compiled file beside a tool without an ending.
sys.dont_write_bytecode = True
loader.exec_module(tool)

OUTPUT = '''machine: a processor

### Signals

| way | found waiting: ns | alone: ns |
|---|---:|---:|
| bare | 400 | 10 000 |
| ours | 900 (2.25 ×) | 12 500 |

All on one core:

| | p50, µs |
|---|---:|
| ours | 20.5 |

On two cores:

| | p50, µs |
|---|---:|
| ours | 70.0 |
'''.splitlines()


def judged(ours, limit=None, **goal):
    """Returns the verdict of a row with these figures."""
    figures = {'Part | ours | ns': ours, 'Part | limit | ns': limit}
    row = Row('work', 'part', 'Part | ours | ns', 'ns', 'limit in C', limit and 'Part | limit | ns', **goal)
    return verdict(row, {name: value for name, value in figures.items() if value is not None}, ['part'])


class Figures(unittest.TestCase):
    def test_names_have_the_heading_the_caption_the_row_and_the_column(self):
        self.assertEqual(tool.figures(OUTPUT), {
            'Signals | bare | found waiting: ns': 400, 'Signals | bare | alone: ns': 10_000,
            'Signals | ours | found waiting: ns': 900, 'Signals | ours | found waiting: ns (2)': 2.25,
            'Signals | ours | alone: ns': 12_500,
            'Signals | All on one core | ours | p50, µs': 20.5, 'Signals | On two cores | ours | p50, µs': 70})

    def test_of_the_verdicts_the_ratios_are_figures(self):
        lines = [f'### {HEADING}', '', *table([judged(150, 100, at_most=2)])]
        self.assertEqual(tool.figures(lines), {f'{HEADING} | work | ratio': 1.5})


class Verdicts(unittest.TestCase):
    def test_a_ratio_decides(self):
        self.assertIs(judged(150, 100, at_most=1.5).is_met, True)
        self.assertIs(judged(151, 100, at_most=1.5).is_met, False)
        self.assertEqual(judged(151, 100, at_most=1.5).cells(), ['work', '151 ns', 'limit in C: 100 ns', '1.51', '≤ 1.5 ×', 'no'])

    def test_a_ratio_may_have_to_be_large(self):
        self.assertIs(judged(30, 100, at_least=0.3).is_met, True)
        self.assertIs(judged(29, 100, at_least=0.3).is_met, False)

    def test_a_goal_without_a_limit_is_absolute(self):
        self.assertIs(judged(60, at_most=60).is_met, True)
        self.assertIs(judged(61, at_most=60).is_met, False)
        self.assertEqual(judged(61, at_most=60).cells()[4], '≤ 60 ns, absolute')
        self.assertIs(judged(1031, at_most=1.03, scale=1000, is_ratio=True).is_met, False)

    def test_a_figure_may_be_reported_without_a_goal(self):
        self.assertIsNone(judged(17).is_met)
        self.assertEqual(judged(17).cells()[4:], ['none: reported', ''])

    def test_a_part_that_did_not_run_is_named(self):
        row = Row('work', 'part', 'Part | ours | ns', 'ns', at_most=1)
        self.assertEqual(verdict(row, {}, ['other']).cells()[5], 'not measured: not in this run; `Benchmarks/run part`')

    def test_a_missing_figure_is_neither_met_nor_taken_from_another_row(self):
        found = verdict(
            Row('work', 'part', 'Part | ours | ns', 'ns', 'limit', 'Part | limit | ns', at_most=9),
            {'Part | ours | ns': 1, 'Part | limit of another | ns': 1}, ['part'])
        self.assertIsNone(found.is_met)
        self.assertIn('printed no figure "Part, limit, ns"', found.cells()[5])

    def test_a_limit_of_nothing_is_not_a_limit(self):
        figures = {'Part | ours | ns': 1, 'Part | limit | ns': 0}
        row = Row('work', 'part', 'Part | ours | ns', 'ns', 'limit', 'Part | limit | ns', at_most=9)
        self.assertIsNone(verdict(row, figures, ['part']).is_met)

    def test_a_figure_of_nothing_or_less_is_no_figure(self):
        for ours in [0, -5]:
            self.assertIsNone(judged(ours, 100, at_most=1.5).is_met)
            self.assertIs(judged(ours, at_most=1.5, is_signed=True).is_met, True)

    def test_a_number_may_have_an_exponent(self):
        self.assertEqual(tool.numbers('1.20e+07'), [12_000_000])

    def test_of_several_runs_the_median_decides(self):
        found = together([judged(ours, 100, at_most=1.5) for ours in [140, 200, 149]])
        self.assertIs(found.is_met, True)
        self.assertEqual(found.cells()[3], '1.49 (1.40–2.00)')
        self.assertIs(together([judged(ours, 100, at_most=1.5) for ours in [140, 200, 151]]).is_met, False)

    def test_a_part_that_has_not_printed_a_figure_fails(self):
        done = subprocess.run([TOOL, 'verdicts'], input='parts: later\n', capture_output=True, text=True)
        self.assertEqual(done.returncode, 65)
        self.assertIn('printed no figure', done.stdout)
        self.assertIn('not in this run; `Benchmarks/run plugin`', done.stdout)

    def test_the_tool_prints_a_verdict_that_fails(self):
        heading, ours = 'Signal to handler', 'ours: signal thread, lane, module'
        output = (f'### {heading}\n\n| way | found waiting: ns |\n|---|---:|\n'
                  f'| bare `sigwaitinfo` thread | 400 |\n| {ours} | 1001 |\n')
        done = subprocess.run([TOOL, 'verdicts'], input=output, capture_output=True, text=True, check=True)
        self.assertIn('| 1001 ns | C thread in `sigwaitinfo`: 400 ns | 2.50 | ≤ 2.5 × | no |', done.stdout)
        self.assertIn('Met: 0. Not met: 1.', done.stdout)


class Rows(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(FOLDER, 'run'), encoding='utf-8') as file:
            self.run_text = file.read()

    def test_each_row_is_named_once(self):
        names = [(row.work, row.limit) for row in limits.ROWS]
        self.assertEqual(len(set(names)), len(names))

    def test_run_has_the_parts_and_their_headings(self):
        parts = re.search(r"^all='(.*)'$", self.run_text, re.M)[1].split()
        headings = re.findall(r'heading "(.*?)"', self.run_text)
        for row in limits.ROWS:
            self.assertIn(row.part, parts)
            if row.part != 'plugin':
                self.assertIn(row.ours.split(' | ')[0], headings, row.work)

    def test_the_programs_print_the_rows(self):
        patterns = ['Sources/**/*.swift', '*/*.swift', 'modules.py', 'checks.py', 'builds.py', '../scripts/figures.sh']
        paths = [path for each in patterns for path in glob.glob(os.path.join(FOLDER, each), recursive=True)]
        texts = [pathlib.Path(path).read_text(encoding='utf-8') for path in paths if '/.build/' not in path]
        for row in limits.ROWS:
            for title in [name.split(' | ')[-2] for name in (row.ours, row.of) if name]:
                self.assertTrue(any(title in text for text in texts), f'no program prints a row "{title}"')

    def test_the_files_that_a_line_is_added_to_are_there(self):
        for name in builds.FILES:
            self.assertTrue(os.path.exists(os.path.join(FOLDER, '../Sources', name)), name)
        self.assertEqual(len(set(builds.FILES)), 10)

    def test_each_limit_has_a_name(self):
        for row in limits.ROWS:
            self.assertTrue(row.limit or row.of is None, row.work)


if __name__ == '__main__':
    unittest.main()
