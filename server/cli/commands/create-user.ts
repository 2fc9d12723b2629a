// The command `user create` creates a user, and adds the user to a workspace where one is named.

import { createResetLink } from '../../features/accounts/auth/reset-password.ts'
import { createUser } from '../../features/accounts/workspaces/create-user.ts'
import { parseEmail, parseIdArgument, parseName, parseRole } from '../arguments.ts'
import { type Command, CommandError } from '../command.ts'

export const createUserCommand: Command = {
  name: 'user create',
  form: '<email> [--workspace <id>] [--role <role>] [--name <name>]',
  help: 'creates a user; prints JSON with a link to set a password',
  words: 1,
  options: ['workspace', 'role', 'name'],
  creates: true,
  async run(needs, { words, options }) {
    const { workspace, role, name } = options
    if (role !== undefined && workspace === undefined) {
      throw new CommandError('--role needs --workspace: a role belongs to a workspace.')
    }
    const user = await createUser(needs, {
      email: parseEmail(words[0]),
      name: name === undefined ? undefined : parseName(name, 'A user'),
      joins:
        workspace === undefined
          ? undefined
          : { workspaceId: parseIdArgument(workspace, '--workspace'), role: parseRole(role) },
    })
    return JSON.stringify({ ...user, url: await createResetLink(needs, user.id) })
  },
}
