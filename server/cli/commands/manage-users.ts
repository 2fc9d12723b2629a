// The commands `user …`. A suspended person cannot sign in.

import { createResetLink } from '../../features/accounts/auth/reset-password.ts'
import { restoreUser, suspendUser } from '../../features/accounts/auth/suspend-user.ts'
import { resetSecondFactor } from '../../features/accounts/second-factor/factors.ts'
import { getUser } from '../../features/accounts/workspaces/add-member.ts'
import { createUser } from '../../features/accounts/workspaces/create-user.ts'
import { parseEmail, parseIdArgument, parseName, parseReason, parseRole } from '../arguments.ts'
import { type Command, CommandError } from '../command.ts'

export const USER_COMMANDS: Command[] = [
  {
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
  },
  {
    name: 'user reset',
    form: '<email>',
    help: 'prints a link to set a new password; it works once, for 30 minutes',
    words: 1,
    options: [],
    async run(needs, { words }) {
      const user = await getUser(needs.db.read, parseEmail(words[0]))
      return createResetLink(needs, user.id)
    },
  },
  {
    name: 'user reset-second-factor',
    form: '<email>',
    help: 'removes app, passkeys and recovery codes, and ends all sessions',
    words: 1,
    options: [],
    async run(needs, { words }) {
      const user = await getUser(needs.db.read, parseEmail(words[0]))
      const had = await resetSecondFactor(needs, user.id)
      return had
        ? `${user.email} now signs in with only the password. Make sure that the request was theirs.`
        : `${user.email} had no second factor.`
    },
  },
  {
    name: 'user suspend',
    form: '<email> [--reason <text>]',
    help: 'ends their sessions and blocks their sign-in',
    words: 1,
    options: ['reason'],
    async run(needs, { words, options }) {
      return JSON.stringify(await suspendUser(needs, parseEmail(words[0]), parseReason(options.reason)))
    },
  },
  {
    name: 'user restore',
    form: '<email>',
    help: 'lets a suspended user sign in again',
    words: 1,
    options: [],
    async run(needs, { words }) {
      return JSON.stringify(await restoreUser(needs, parseEmail(words[0])))
    },
  },
]
