// The command `export` writes a whole workspace into a file.

import { type Command, CommandError } from '../command.ts'
import { endOnSignals } from '../end-on-signals.ts'

export const exportCommand: Command = {
  name: 'export',
  form: '<workspace id> <file>',
  help: 'writes a whole workspace into a zip, which any server can import',
  words: 2,
  options: [],
  async run(needs, { words: [id, file] }) {
    if (file === undefined) throw new CommandError('Name the workspace and the file: export 1 workspace.zip.')
    // Imported here, so that the other commands start faster.
    const [{ runExport }, { createProgressBar }] = await Promise.all([
      import('../export/run-export.ts'),
      import('../progress-bar.ts'),
    ])
    const signal = endOnSignals('Stopped. The unfinished file was removed.')
    return runExport({ ...needs, progress: createProgressBar(process.stderr), signal }, id, file)
  },
}
