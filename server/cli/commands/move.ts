// The command `move` takes an installation from SQLite and DuckDB to PostgreSQL and ClickHouse.

import type { Command } from '../command.ts'
import { endOnSignals } from '../end-on-signals.ts'

export const moveCommand: Command = {
  name: 'move',
  form: '[--to-database <url>] [--to-clickhouse <url>]',
  help: 'moves everything to PostgreSQL and ClickHouse, first while the server runs and then while it is stopped',
  words: 0,
  options: ['to-database', 'to-clickhouse'],
  async run({ db, config, now }, { options }) {
    // Imported here, so that the other commands start faster.
    const [{ runMove }, { readMoveTargets }, { createProgressBar }] = await Promise.all([
      import('../move/run-move.ts'),
      import('../move/read-targets.ts'),
      import('../progress-bar.ts'),
    ])
    const signal = endOnSignals('Stopped. Run the same command again to go on where it was.')
    const progress = createProgressBar(process.stderr)
    const say = (line: string) => {
      progress.end()
      process.stderr.write(`${line}\n`)
    }
    const targets = readMoveTargets(options, config)
    return runMove({ db, config, progress, say, signal, now }, targets)
  },
}
