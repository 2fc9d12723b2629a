// All commands of the operator, and the usage text that lists them.

import type { AnyCommand } from './command.ts'
import { acceptSecretCommand } from './commands/accept-secret.ts'
import { addMemberCommand } from './commands/add-member.ts'
import { adoptCommand } from './commands/adopt.ts'
import { backupCommand } from './commands/backup.ts'
import { changePlanCommand } from './commands/change-plan.ts'
import { compactCommand } from './commands/compact.ts'
import { createKeyCommand } from './commands/create-key.ts'
import { createUserCommand } from './commands/create-user.ts'
import { createWorkspaceCommand } from './commands/create-workspace.ts'
import { deleteWorkspaceCommand } from './commands/delete-workspace.ts'
import { demoCommand } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import { exportCommand } from './commands/export.ts'
import { importCommand } from './commands/import.ts'
import { listKeysCommand } from './commands/list-keys.ts'
import {
  addDomainCommand,
  listDomainsCommand,
  removeDomainCommand,
  verifyDomainCommand,
} from './commands/manage-domains.ts'
import { mcpCommand } from './commands/mcp.ts'
import { moveCommand } from './commands/move.ts'
import { resetPasswordCommand } from './commands/reset-password.ts'
import { resetSecondFactorCommand } from './commands/reset-second-factor.ts'
import { restoreCommand } from './commands/restore.ts'
import { revokeKeyCommand } from './commands/revoke-key.ts'
import { restoreLinkCommand, suspendLinkCommand } from './commands/suspend-link.ts'
import { restoreUserCommand, suspendUserCommand } from './commands/suspend-user.ts'
import { restoreWorkspaceCommand, suspendWorkspaceCommand } from './commands/suspend-workspace.ts'
import { verifyCommand } from './commands/verify.ts'

export const COMMANDS: readonly AnyCommand[] = [
  createWorkspaceCommand,
  changePlanCommand,
  deleteWorkspaceCommand,
  addMemberCommand,
  createUserCommand,
  resetPasswordCommand,
  resetSecondFactorCommand,
  createKeyCommand,
  revokeKeyCommand,
  listKeysCommand,
  addDomainCommand,
  listDomainsCommand,
  verifyDomainCommand,
  removeDomainCommand,
  suspendLinkCommand,
  restoreLinkCommand,
  suspendWorkspaceCommand,
  restoreWorkspaceCommand,
  suspendUserCommand,
  restoreUserCommand,
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
