// All commands of the operator, and the usage text that lists them.

import type { AnyCommand } from './command.ts'
import { acceptSecretCommand } from './commands/accept-secret.ts'
import { adoptCommand } from './commands/adopt.ts'
import { backupCommand } from './commands/backup.ts'
import { compactCommand } from './commands/compact.ts'
import { demoCommand } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import { exportCommand } from './commands/export.ts'
import { importCommand } from './commands/import.ts'
import { DOMAIN_COMMANDS } from './commands/manage-domains.ts'
import { KEY_COMMANDS } from './commands/manage-keys.ts'
import { USER_COMMANDS } from './commands/manage-users.ts'
import { WORKSPACE_COMMANDS } from './commands/manage-workspaces.ts'
import { mcpCommand } from './commands/mcp.ts'
import { moveCommand } from './commands/move.ts'
import { restoreCommand } from './commands/restore.ts'
import { LINK_COMMANDS } from './commands/suspend-links.ts'
import { verifyCommand } from './commands/verify.ts'

export const COMMANDS: readonly AnyCommand[] = [
  ...WORKSPACE_COMMANDS,
  ...USER_COMMANDS,
  ...KEY_COMMANDS,
  ...DOMAIN_COMMANDS,
  ...LINK_COMMANDS,
  acceptSecretCommand,
  demoCommand,
  importCommand,
  exportCommand,
  verifyCommand,
  moveCommand,
  adoptCommand,
  compactCommand,
  backupCommand,
  restoreCommand,
  doctorCommand,
  mcpCommand,
]

const HELP_COLUMN = 46

function formatCommand({ name, form, help }: Pick<AnyCommand, 'name' | 'form' | 'help'>): string {
  const left = `  ${name} ${form}`
  return left.length < HELP_COLUMN
    ? left.padEnd(HELP_COLUMN) + help
    : `${left}\n${' '.repeat(HELP_COLUMN)}${help}`
}

/** bin/towpath runs the server itself, in this program's place. */
const START = { name: 'start', form: '', help: 'runs the server, as npm start does' }

/** @param word the first of a command; any other word, or none, lists all commands */
export function formatUsage(word?: string): string {
  const all = [START, ...COMMANDS]
  const named = all.filter(({ name }) => name.split(' ')[0] === word)
  return `Usage: npx towpath <command>\n\n${(named.length > 0 ? named : all).map(formatCommand).join('\n')}`
}
