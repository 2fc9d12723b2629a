// The command `adopt` counts the remaining hits in the data directory of a node that will not start again.

import { type Command, CommandError } from '../command.ts'
import { endOnSignals } from '../end-on-signals.ts'

export const adoptCommand: Command = {
  name: 'adopt',
  form: '<directory> [--yes]',
  help: 'counts the remaining clicks in the data directory of a dead node',
  words: 1,
  options: ['yes'],
  async run({ db, config, now }, { words: [directory], options }) {
    if (directory === undefined) throw new CommandError('Name the data directory of the dead node.')
    // Imported here, so that the other commands start faster.
    const [{ adoptDirectory }, { createProgressBar }] = await Promise.all([
      import('../move/adopt-directory.ts'),
      import('../progress-bar.ts'),
    ])
    const signal = endOnSignals('Stopped. Run the same command again to go on where it was.')
    const progress = createProgressBar(process.stderr)
    const needs = { db, config, progress, signal, now }
    return adoptDirectory(needs, directory, options.yes === true)
  },
}
