// The commands `user suspend` and `user restore`: a suspended person cannot sign in.

import { restoreUser, suspendUser } from '../../features/accounts/auth/suspend-user.ts'
import { parseEmail, parseReason } from '../arguments.ts'
import type { Command } from '../command.ts'

export const suspendUserCommand: Command = {
  name: 'user suspend',
  form: '<email> [--reason <text>]',
  help: 'ends their sessions and blocks their sign-in',
  words: 1,
  options: ['reason'],
  async run(needs, { words, options }) {
    return JSON.stringify(await suspendUser(needs, parseEmail(words[0]), parseReason(options.reason)))
  },
}

export const restoreUserCommand: Command = {
  name: 'user restore',
  form: '<email>',
  help: 'lets a suspended user sign in again',
  words: 1,
  options: [],
  async run(needs, { words }) {
    return JSON.stringify(await restoreUser(needs, parseEmail(words[0])))
  },
}
