// The commands `workspace suspend` and `workspace restore`: the links and forms of a suspended workspace stop, and its
// keys and members are refused.

import { restoreWorkspace, suspendWorkspace } from '../../features/accounts/workspaces/suspend-workspace.ts'
import { parseIdArgument, parseReason } from '../arguments.ts'
import type { Command } from '../command.ts'

const ID = 'The id of a workspace'

export const suspendWorkspaceCommand: Command = {
  name: 'workspace suspend',
  form: '<id> [--reason <text>]',
  help: 'stops its links, forms, keys and members; deletes nothing',
  words: 1,
  options: ['reason'],
  async run(needs, { words, options }) {
    const id = parseIdArgument(words[0], ID)
    return JSON.stringify(await suspendWorkspace(needs, id, parseReason(options.reason)))
  },
}

export const restoreWorkspaceCommand: Command = {
  name: 'workspace restore',
  form: '<id>',
  help: 'ends the suspension of a workspace',
  words: 1,
  options: [],
  async run(needs, { words }) {
    return JSON.stringify(await restoreWorkspace(needs, parseIdArgument(words[0], ID)))
  },
}
