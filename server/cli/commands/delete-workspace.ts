// The command `workspace delete` deletes a workspace. Without --yes it only lists the data to delete.

import { deleteWorkspace, getWorkspaceContents } from '../../features/accounts/workspaces/delete-workspace.ts'
import { parseIdArgument } from '../arguments.ts'
import { type Command, CommandError } from '../command.ts'

export const deleteWorkspaceCommand: Command = {
  name: 'workspace delete',
  form: '<id> --yes',
  help: 'deletes it with its links, keys and clicks; without --yes, only lists them',
  words: 1,
  options: ['yes'],
  async run(needs, { words, options }) {
    const id = parseIdArgument(words[0], 'The id of a workspace')
    if (options.yes) return JSON.stringify({ ...(await deleteWorkspace(needs, id)), deleted: true })
    const { name, links, tags, keys } = await getWorkspaceContents(needs, id)
    throw new CommandError(
      `This would remove workspace ${id}, ${JSON.stringify(name)}, for good: links: ${links}, tags: ${tags}, ` +
        `API keys: ${keys}, and all clicks ever counted on its links. Add --yes to do it.`,
    )
  },
}
