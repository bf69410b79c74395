"""What each figure is held against: the rows of the table with which Benchmarks/run ends.

A goal is a ratio to a limit or a peer that the same run measured in turn with ours, or absolute where the row has none.
"""
from verdicts import Row

LOOP = 'loop of witness calls'
SIGWAIT = 'C thread in `sigwaitinfo`'
GROUP = 'ServiceGroup of as many services'
JSON_CHILD = 'bare Swift child with `JSONDecoder`'
SIGNALS, CONTROL, INBOX = 'Signal to handler', 'Control socket', 'Inbox'
URLS, ISOLATED, PROCESS = (
    'URLs: read, match, parameters', 'Modules in a process of their own', 'hostd as a whole process')
MODULES, CHECKS, LATER, BUILD = (
    'Modules up and down', 'Check of 10 000 modules', 'Answers that come later', 'Release build')


def messages():
    for count, goal in [(10, 1.0), (100, 0.5), (1000, 0.45)]:
        heading = f'Fan-out to {count}'
        yield Row(
            f'message to {count} modules, from a handler: one delivery', 'plugin',
            f"{heading} | host's center, from a handler (ps) | p50", 'ns',
            LOOP, f'{heading} | plain loop of witness calls (ps) | p50', at_most=goal, scale=1000)
    yield Row(
        'lifecycle event by signal, in a waiting burst: one delivery more', 'signals',
        f'{SIGNALS} | slope from 100 to 1000 modules | ns a delivery', 'ns',
        LOOP, f'{SIGNALS} | loop of witness calls over 1000 modules | ns a delivery', at_most=0.6)


def urls():
    table = f'{URLS} | `RouteTable` | '
    for limit, row, goal in [
        ('trie in C', 'limit: a trie of bytes in C, values in one block', 2.5),
        ('trie in Swift', 'a trie of bytes in plain Swift, values as strings', 1.1),
    ]:
        yield Row(
            'URL to route and parameters, 1 000 patterns', 'urls', table + '1000', 'ns',
            limit, f'{URLS} | {row} | 1000', at_most=goal)
    yield Row(
        'URL to route and parameters, 10 000 patterns', 'urls', table + '10000', 'ns', 'ours with 10', table + '10', at_most=1.2)
    yield Row(
        'URL to route and parameters, a pattern in each of 50 000 modules', 'urls',
        f'{URLS} | ns for one URL, a pattern in each module | 50000', 'ns', 'as many patterns in 10 modules',
        f'{URLS} | ns for one URL, as many patterns in 10 modules | 50000', at_most=1.2)


def tasks():
    for count, goal in [(1000, 0.8), (10_000, 1.0)]:
        heading = f'{count} no-op tasks'
        ours = f'{heading} | StartupQueue: register, admit, done (ns a task) | p50'
        yield Row(
            f'start-up task without work, {count} tasks', 'plugin', ours, 'ns', 'two pthreads and a mutex',
            f'{heading} | two pthreads and a mutex, graph prebuilt (ns a task) | p50', at_most=goal)
        yield Row(
            f'start-up task without work, {count} tasks, two workers', 'plugin', ours, 'ns', 'one worker',
            f'{heading} | StartupQueue of width 1: register, admit, done (ns a task) | p50', at_most=1.0)
    yield Row(
        '200 start-up tasks of 1 ms', 'plugin',
        '200 tasks of 1 ms | StartupQueue: makespan over the bound (‰) | p50', '', 'max(critical path, work ÷ cores)',
        at_most=1.03, scale=1000, is_ratio=True)


def signals():
    ours, limit = f'{SIGNALS} | ours: signal thread, lane, module | ', f'{SIGNALS} | bare `sigwaitinfo` thread | '
    for work, column, goal in [
        ('signal to handler, alone', 'alone: ns', 4.5),
        ('signal to handler, alone, sender and receiver on one core', 'alone, one core: ns', 4.5),
        ('signal to handler, alone, sender and receiver on two cores', 'alone, two cores: ns', 4.5),
        ('signal to handler, a burst that waits', 'found waiting: ns', 2.5),
    ]:
        yield Row(work, 'signals', ours + column, 'ns', SIGWAIT, limit + column, at_most=goal)


def processes():
    for name, ready, memory in [('dynamic', 6, 1.0), ('-static-executable', 4, 0.6)]:
        row = f'{PROCESS} | {name} | '
        yield Row(
            f'exec to READY, {name}', 'process', row + 'exec to READY, ms', 'ms',
            'bare process in C', row + 'bare C', at_most=ready)
        ends = row + 'bare C: no files, files, and the same watches'
        yield Row(
            f'TERM to exit, {name}', 'process', row + 'TERM to exit, ms', 'ms', 'bare process in C, same files', ends + ' (2)',
            at_most=2)
        # Where a folder or memory pressure is watched, the kernel takes that long to release it.
        yield Row(
            f'TERM to exit, {name}, beside one that watches, too', 'process', row + 'TERM to exit, ms', 'ms',
            'bare process in C, same files and watches', ends + ' (3)')
        yield Row(f'anonymous memory, {name}', 'process', row + 'anonymous memory, MB', 'MB', at_most=memory)
        yield Row(f'resident memory, {name}', 'process', row + 'resident memory, MB', 'MB')


def modules():
    peer = f'{MODULES} | services of a ServiceGroup | '
    for name, title, goal in [
        ('idle modules', 'ours, idle modules', 1.5), ('modules of three protocols', 'ours, modules of three protocols', 3),
    ]:
        for count in [1000, 10_000, 50_000]:
            yield Row(
                f'{count} {name}, up and down', 'modules', f'{MODULES} | {title} | {count}', 'ms',
                GROUP, f'{peer}{count}', at_most=goal)
        yield Row(
            f'exponent of growth, {name}, up and down', 'modules', f'{MODULES} | {title} | exponent', '', at_most=1.1,
            is_signed=True)
    for name, row, goal in [
        ('no routes', 'no routes', 8), ('a route of each class', 'a route of each class', 50),
        ('a route that each `provides`', 'a route that each `provides`', 50),
    ]:
        yield Row(
            f'`hostd check`, 10 000 modules, {name}', 'checks', f'{CHECKS} | {row} | check, ms', 'ms',
            'C token scan of the file', f'{CHECKS} | {row} | C token scan, ms', at_most=goal)


def events():
    yield Row(
        'durable event over the socket, alone', 'inbox',
        f'{INBOX} | durable event over the socket, until it is accepted | µs, alone', 'µs',
        'append, `fdatasync` and one `ping`', f'{INBOX} | append, `fdatasync` and one `ping` | µs, alone', at_most=1.25)
    for title in [
        'no module receives it, `--log-level notice`', 'all built-in modules, `--log-level notice`',
        'all built-in modules, a line of the log for each',
    ]:
        yield Row(
            f'durable event over the socket, 60 clients: {title}', 'inbox',
            f'{INBOX} | ours: {title} | µs an event, 60 clients', 'µs', 'C server that syncs once a turn',
            f'{INBOX} | C server that receives, writes and syncs once a turn | µs an event, 60 clients', at_most=2)
    for work, row, unit, goal in [
        ('until the first is delivered', 'until the first is delivered, ms', 'ms', 100),
        ('until all are delivered', 'until all are delivered, ms', 'ms', 4000),
        ('memory that stays', 'anonymous memory after, more than before, MB', 'MB', 8),
    ]:
        yield Row(
            f'10⁶ pending events: {work}', 'inbox', f'{INBOX} | pending events: {row} | median', unit, at_most=goal,
            is_signed=unit == 'MB')


def isolated():
    heading = f'{ISOLATED} | All on one core, where no wake-up has to go to another'
    for work, row, goal in [
        ('call of an isolated module, one core', 'a call of an isolated Swift module', 0.8),
        ('event to an isolated module, one core', 'an event to an isolated Swift module', 0.9),
    ]:
        yield Row(
            work, 'isolated', f'{heading} | {row} | p50, µs', 'µs', JSON_CHILD,
            f'{heading} | bare Swift child with `JSONDecoder`, over pipes | p50, µs', at_most=goal)
    yield Row(
        'isolated module, spawn to ready', 'isolated', f'{ISOLATED} | an isolated Swift module, until it is ready | p50, ms',
        'ms', 'byte-echo Swift child, same linkage',
        f'{ISOLATED} | bare child that sends back the bytes, to its first answer | p50, ms', at_most=1.3)


def calls():
    call, ping = f'{CONTROL} | `call` of a public action | ', f'{CONTROL} | `ping` | '
    for work, column in [
        ('lone call over the socket, p50', 'lone: p50, µs'), ('lone call over the socket, p99', 'lone: p99, µs'),
        ('lone call over the socket, one core, p50', 'one core: p50, µs'), ('lone call over the socket, one core, p99', 'one core: p99, µs'),
        ('lone call over the socket, two cores, p50', 'two cores: p50, µs'), ('lone call over the socket, two cores, p99', 'two cores: p99, µs'),
    ]:
        yield Row(work, 'control', call + column, 'µs', '`ping`', ping + column, at_most=3)
    yield Row(
        'pipelined calls a second', 'control', call + 'a second, pipelined', '', '`ping`', ping + 'a second, pipelined',
        at_least=0.3)
    later = f'{LATER} | `call` of `later` | lone: p50, µs'
    yield Row(
        'asynchronous call over the socket, alone', 'later', later, 'µs', 'synchronous call',
        f'{LATER} | `call` of `now` | lone: p50, µs', at_most=1.1)
    yield Row(
        'asynchronous calls a second over the socket', 'later', f'{LATER} | `call` of `later` | a second, pipelined', '',
        'synchronous calls', f'{LATER} | `call` of `now` | a second, pipelined', at_least=0.91)
    # Without a goal: the bare task comes to its executor by way of another thread, so 1.3 of it proves nothing.
    yield Row(
        'asynchronous call on the lane', 'later', f'{LATER} | call of an asynchronous handler | ns', 'ns',
        'bare `Task` on the same executor', f"{LATER} | bare task on the module's executor | ns")
    yield Row(
        '`perform`, over its handler', 'plugin',
        'Calls between modules | perform without parameters, over the handler (ps) | p50', 'ns', at_most=60, scale=1000)


def builds():
    yield Row('release build, clean', 'build', f'{BUILD} | clean | s', 's', at_most=110)
    yield Row(
        'release build after one line, median of ten files', 'build', f'{BUILD} | after one line, median | s', 's', at_most=60)


ROWS = [
    *messages(), *urls(), *tasks(), *signals(), *processes(), *modules(), *events(), *isolated(), *calls(), *builds()]
