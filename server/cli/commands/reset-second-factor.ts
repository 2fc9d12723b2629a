// The command `user reset-second-factor` removes all second factors of a person who has lost them.

import { resetSecondFactor } from '../../features/accounts/second-factor/factors.ts'
import { getUser } from '../../features/accounts/workspaces/add-member.ts'
import { parseEmail } from '../arguments.ts'
import type { Command } from '../command.ts'

export const resetSecondFactorCommand: Command = {
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
}
