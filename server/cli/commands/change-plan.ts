// The command `workspace plan` changes the plan of a workspace.

import { changePlan } from '../../features/accounts/workspaces/change-plan.ts'
import { PLANS } from '../../lib/plan.ts'
import { parseIdArgument, parsePlan } from '../arguments.ts'
import type { Command } from '../command.ts'

export const changePlanCommand: Command = {
  name: 'workspace plan',
  form: '<id> <plan>',
  help: `changes its plan: ${PLANS.join(', ')}`,
  words: 2,
  options: [],
  async run(needs, { words }) {
    const id = parseIdArgument(words[0], 'The id of a workspace')
    return JSON.stringify(await changePlan(needs, id, parsePlan(words[1])))
  },
}
