// The command `key create` creates an API key.

import { createKey } from '../../features/accounts/access/keys.ts'
import { parseExpiry, parseIdArgument, parseName, parseScopes } from '../arguments.ts'
import type { Command } from '../command.ts'

export const createKeyCommand: Command = {
  name: 'key create',
  form: '--workspace <id> [--name <name>] [--scopes <list>] [--expires <when>]',
  help: 'creates an API key and prints it once; scopes: links:read,… (default *); expires: a date, or 30d',
  words: 0,
  options: ['workspace', 'name', 'scopes', 'expires'],
  creates: true,
  async run(needs, { options }) {
    const workspaceId = parseIdArgument(options.workspace, '--workspace')
    const name = parseName(options.name ?? 'command line', 'A key')
    const { key } = await createKey(needs, workspaceId, name, {
      scopes: parseScopes(options.scopes),
      expiresAt: parseExpiry(options.expires, needs.now()),
    })
    return key
  },
}
