// The commands `workspace …`. The links and forms of a suspended workspace stop, and its keys and members are refused.

import { addMember } from '../../features/accounts/workspaces/add-member.ts'
import { changePlan } from '../../features/accounts/workspaces/change-plan.ts'
import { createWorkspace } from '../../features/accounts/workspaces/create-workspace.ts'
import { deleteWorkspace, getWorkspaceContents } from '../../features/accounts/workspaces/delete-workspace.ts'
import { restoreWorkspace, suspendWorkspace } from '../../features/accounts/workspaces/suspend-workspace.ts'
import { PLANS } from '../../lib/plan.ts'
import { ROLES } from '../../lib/role.ts'
import { parseEmail, parseIdArgument, parseName, parsePlan, parseReason, parseRole } from '../arguments.ts'
import { type Command, CommandError } from '../command.ts'

const ID = 'The id of a workspace'

export const WORKSPACE_COMMANDS: Command[] = [
  {
    name: 'workspace create',
    form: '<name> [--plan <plan>]',
    help: 'creates a workspace; prints JSON with its id',
    words: 1,
    options: ['plan'],
    creates: true,
    async run(needs, { words, options }) {
      const name = parseName(words[0] ?? '', 'A workspace')
      const plan = options.plan === undefined ? needs.config.defaultPlan : parsePlan(options.plan)
      return JSON.stringify(await createWorkspace(needs, { name, plan }))
    },
  },
  {
    name: 'workspace plan',
    form: '<id> <plan>',
    help: `changes its plan: ${PLANS.join(', ')}`,
    words: 2,
    options: [],
    async run(needs, { words }) {
      const id = parseIdArgument(words[0], ID)
      return JSON.stringify(await changePlan(needs, id, parsePlan(words[1])))
    },
  },
  {
    name: 'workspace delete',
    form: '<id> --yes',
    help: 'deletes it with its links, keys and clicks; without --yes, only lists them',
    words: 1,
    options: ['yes'],
    async run(needs, { words, options }) {
      const id = parseIdArgument(words[0], ID)
      if (options.yes) return JSON.stringify({ ...(await deleteWorkspace(needs, id)), deleted: true })
      const { name, links, tags, keys } = await getWorkspaceContents(needs, id)
      throw new CommandError(
        `This would remove workspace ${id}, ${JSON.stringify(name)}, for good: links: ${links}, tags: ${tags}, ` +
          `API keys: ${keys}, and all clicks ever counted on its links. Add --yes to do it.`,
      )
    },
  },
  {
    name: 'workspace member',
    form: '<id> <email> [--role <role>]',
    help: `adds a user, or changes the role of a member: ${ROLES.join(', ')}`,
    words: 2,
    options: ['role'],
    async run(needs, { words, options }) {
      const workspaceId = parseIdArgument(words[0], ID)
      const member = { workspaceId, email: parseEmail(words[1]), role: parseRole(options.role) }
      return JSON.stringify(await addMember(needs, member))
    },
  },
  {
    name: 'workspace suspend',
    form: '<id> [--reason <text>]',
    help: 'stops its links, forms, keys and members; deletes nothing',
    words: 1,
    options: ['reason'],
    async run(needs, { words, options }) {
      const id = parseIdArgument(words[0], ID)
      return JSON.stringify(await suspendWorkspace(needs, id, parseReason(options.reason)))
    },
  },
  {
    name: 'workspace restore',
    form: '<id>',
    help: 'ends the suspension of a workspace',
    words: 1,
    options: [],
    async run(needs, { words }) {
      return JSON.stringify(await restoreWorkspace(needs, parseIdArgument(words[0], ID)))
    },
  },
]
