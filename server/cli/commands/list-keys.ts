// The command `key list` lists the API keys of a workspace.

import { listKeys } from '../../features/accounts/access/keys.ts'
import { parseIdArgument } from '../arguments.ts'
import type { Command } from '../command.ts'

export const listKeysCommand: Command = {
  name: 'key list',
  form: '--workspace <id>',
  help: 'lists the keys of a workspace, without the keys themselves',
  words: 0,
  options: ['workspace'],
  async run(needs, { options }) {
    const keys = await listKeys(needs, parseIdArgument(options.workspace, '--workspace'))
    return keys.map((key) => JSON.stringify(key)).join('\n')
  },
}
