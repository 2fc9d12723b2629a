// The command `workspace member` adds a user to a workspace, or changes the role of a member.

import { addMember } from '../../features/accounts/workspaces/add-member.ts'
import { ROLES } from '../../lib/role.ts'
import { parseEmail, parseIdArgument, parseRole } from '../arguments.ts'
import type { Command } from '../command.ts'

export const addMemberCommand: Command = {
  name: 'workspace member',
  form: '<id> <email> [--role <role>]',
  help: `adds a user, or changes the role of a member: ${ROLES.join(', ')}`,
  words: 2,
  options: ['role'],
  async run(needs, { words, options }) {
    const workspaceId = parseIdArgument(words[0], 'The id of a workspace')
    const member = { workspaceId, email: parseEmail(words[1]), role: parseRole(options.role) }
    return JSON.stringify(await addMember(needs, member))
  },
}
