// The command `import` imports links and clicks from another tool, and undoes an import.

import { type Command, CommandError } from '../command.ts'
import { endOnSignals } from '../end-on-signals.ts'

export const importCommand: Command = {
  name: 'import',
  form: '<file> --workspace <id> [--source <tool>] [--clicks <file>] [--dry-run] [--on-conflict skip|rename|fail] [--domain-map <host>=<domain>,…] [--mapping <field>=<column>,…] [--date-order dmy|mdy|ymd] [--time-zone <zone>] | --undo <id> --workspace <id>',
  help: 'imports links and clicks from another tool, or undoes an import',
  words: 1,
  options: [
    'workspace',
    'source',
    'clicks',
    'dry-run',
    'on-conflict',
    'domain-map',
    'mapping',
    'date-order',
    'time-zone',
    'undo',
  ],
  async run(needs, { words: [file], options }) {
    // Imported here, so that the other commands start faster.
    const [{ runImportCommand, runUndoCommand }, { createProgressBar }] = await Promise.all([
      import('../import/run-import.ts'),
      import('../progress-bar.ts'),
    ])
    const signal = endOnSignals(
      'Stopped watching. The import continues in the server, or at its next start. Undo it with --undo.',
    )
    const watching = { ...needs, progress: createProgressBar(process.stderr), signal }
    if (options.undo === undefined) {
      if (file === undefined) throw new CommandError('Name the file.')
      return runImportCommand(watching, file, options)
    }
    const [other] = Object.keys(options).filter((name) => name !== 'undo' && name !== 'workspace')
    if (file !== undefined || other !== undefined)
      throw new CommandError(`--undo takes no ${other === undefined ? 'file' : `--${other}`}.`)
    return runUndoCommand(watching, options)
  },
}
