// The command `key create` creates an API key.

import { createKey } from '../../features/accounts/access/keys.ts'
import { parseIdArgument, parseName } from '../arguments.ts'
import type { Command } from '../command.ts'

export const createKeyCommand: Command = {
  name: 'key create',
  form: '--workspace <id> [--name <name>]',
  help: 'creates an API key and prints it; it is never shown again',
  words: 0,
  options: ['workspace', 'name'],
  async run(needs, { options }) {
    const workspaceId = parseIdArgument(options.workspace, '--workspace')
    const { key } = await createKey(needs, workspaceId, parseName(options.name ?? 'command line', 'A key'))
    return key
  },
}
