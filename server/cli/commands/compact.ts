// The command `compact` frees the disk space of deleted rows, and removes their last traces.

import { compactSqlite } from '../../storage/database/compact-sqlite.ts'
import { toSqlitePath } from '../../storage/database/open-reader.ts'
import { tryToLockDataDir } from '../../storage/lock.ts'
import { type Command, CommandError } from '../command.ts'

export const compactCommand: Command = {
  name: 'compact',
  form: '',
  help: 'rewrites the SQLite file without the space of deleted rows; the server must be stopped',
  words: 0,
  options: [],
  async run({ config }) {
    if (config.databaseUrl)
      throw new CommandError('The rows are in PostgreSQL. Run there: VACUUM (FULL), while no server runs.')
    const lock = tryToLockDataDir(config.dataDir)
    if (!lock)
      throw new CommandError('A server runs on this data directory. Stop it first: it could not write.')
    try {
      const { before, after } = await compactSqlite(toSqlitePath(config.dataDir))
      const toMegabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
      return `towpath.db had ${toMegabytes(before)} MB and has ${toMegabytes(after)} MB now.`
    } finally {
      lock.release()
    }
  },
}
