// The commands `key …` for API keys.

import { createKey, listKeys, revokeKey } from '../../features/accounts/access/keys.ts'
import { parseExpiry, parseIdArgument, parseName, parseScopes } from '../arguments.ts'
import type { Command } from '../command.ts'

export const KEY_COMMANDS: Command[] = [
  {
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
  },
  {
    name: 'key list',
    form: '--workspace <id>',
    help: 'lists the keys of a workspace, without the keys themselves',
    words: 0,
    options: ['workspace'],
    async run(needs, { options }) {
      const keys = await listKeys(needs, parseIdArgument(options.workspace, '--workspace'))
      return keys.map((key) => JSON.stringify(key)).join('\n')
    },
  },
  {
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
  },
]
