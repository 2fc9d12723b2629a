// The command `key revoke` revokes an API key.

import { revokeKey } from '../../features/accounts/access/keys.ts'
import { parseIdArgument } from '../arguments.ts'
import type { Command } from '../command.ts'

export const revokeKeyCommand: Command = {
  name: 'key revoke',
  form: '<id>',
  help: 'revokes a key; its next request is refused',
  words: 1,
  options: [],
  async run(needs, { words }) {
    const id = parseIdArgument(words[0], 'The id of a key')
    await revokeKey(needs, id)
    return JSON.stringify({ id, revoked: true })
  },
}
