// The command `workspace create` creates a workspace.

import { createWorkspace } from '../../features/accounts/workspaces/create-workspace.ts'
import { parseName, parsePlan } from '../arguments.ts'
import type { Command } from '../command.ts'

export const createWorkspaceCommand: Command = {
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
}
