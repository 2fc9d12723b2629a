// The command `backup` copies a whole installation while its server runs.

import { CommandError, type FileCommand } from '../command.ts'

export const backupCommand: FileCommand = {
  name: 'backup',
  form: '<directory> [--since <previous backup>]',
  help: 'copies everything as of one moment, while the server runs; shares unchanged files with the previous backup',
  words: 1,
  options: ['since'],
  async runOnFiles({ words: [directory], options }) {
    if (directory === undefined)
      throw new CommandError('Name the directory to make: backup /var/backups/towpath.')
    // Imported here, so that the other commands start faster.
    const [{ runBackup }, { createProgressBar }] = await Promise.all([
      import('../backup/run-backup.ts'),
      import('../progress-bar.ts'),
    ])
    return runBackup(createProgressBar(process.stderr), directory, options.since)
  },
}
