// The command `verify` recomputes the closed days of a workspace, and names the first one that differs.

import type { Command } from '../command.ts'

export const verifyCommand: Command = {
  name: 'verify',
  form: '<workspace id> [--reason <text>]',
  help: 'recomputes the closed days of a workspace; --reason records those that have changed',
  words: 1,
  options: ['reason'],
  async run(needs, { words: [id], options: { reason } }) {
    // Imported here, so that the other commands start faster.
    const { runVerify } = await import('../verify/run-verify.ts')
    return runVerify(needs, id, reason)
  },
}
