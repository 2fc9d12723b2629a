// The command `user reset` creates a link to set a new password.

import { createResetLink } from '../../features/accounts/auth/reset-password.ts'
import { getUser } from '../../features/accounts/workspaces/add-member.ts'
import { parseEmail } from '../arguments.ts'
import type { Command } from '../command.ts'

export const resetPasswordCommand: Command = {
  name: 'user reset',
  form: '<email>',
  help: 'prints a link to set a new password; it works once, for 30 minutes',
  words: 1,
  options: [],
  async run(needs, { words }) {
    const user = await getUser(needs.db.read, parseEmail(words[0]))
    return createResetLink(needs, user.id)
  },
}
