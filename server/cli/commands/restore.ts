// The command `restore` puts a backup into an empty data directory.

import { CommandError, type FileCommand } from '../command.ts'

export const restoreCommand: FileCommand = {
  name: 'restore',
  form: '<backup>',
  help: 'puts a backup into an empty DATA_DIR, and checks every file of it',
  words: 1,
  options: [],
  async runOnFiles({ words: [directory] }) {
    if (directory === undefined) throw new CommandError('Name the backup: restore /var/backups/towpath.')
    // Imported here, so that the other commands start faster.
    const [{ runRestore }, { createProgressBar }] = await Promise.all([
      import('../backup/run-restore.ts'),
      import('../progress-bar.ts'),
    ])
    return runRestore(createProgressBar(process.stderr), directory)
  },
}
