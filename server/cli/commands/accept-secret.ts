// The command `secret accept` makes the secret of this environment the one that all servers on a PostgreSQL must have.

import { acceptSecret } from '../../features/cluster/instance.ts'
import { type Command, CommandError } from '../command.ts'

export const acceptSecretCommand: Command = {
  name: 'secret accept',
  form: '',
  help: 'after a deliberate change of TOWPATH_SECRET, with PostgreSQL: servers start with the new one only',
  words: 0,
  options: [],
  async run({ db, config }) {
    if (db.engine === 'sqlite') return 'SQLite has one server, which uses the secret that it finds.'
    const nodes = await acceptSecret(db, config.secret)
    if (nodes.length > 0)
      throw new CommandError(
        `Stop all servers first: ${nodes.map((node) => `node ${node}`).join(', ')} runs.`,
      )
    return 'Servers start with this secret now. Data sealed with the old secret cannot be read: see UPGRADING.md.'
  },
}
