// The type of an operator's command: its name, its arguments and its function.

import type { Config } from '../config/config.ts'
import type { Database } from '../storage/database/open-database.ts'

/** An error of the operator. The message is shown unchanged. */
export class CommandError extends Error {}

/** The options of all commands, as `parseArgs` of node:util declares them. */
export const OPTIONS = {
  plan: { type: 'string' },
  name: { type: 'string' },
  workspace: { type: 'string' },
  role: { type: 'string' },
  scopes: { type: 'string' },
  expires: { type: 'string' },
  yes: { type: 'boolean' },
  reason: { type: 'string' },
  for: { type: 'string' },
  'to-database': { type: 'string' },
  'to-clickhouse': { type: 'string' },
  since: { type: 'string' },
  /** A number for tests of the demo, which need fewer; the file of a click history for imports. */
  clicks: { type: 'string' },
  source: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'on-conflict': { type: 'string' },
  'domain-map': { type: 'string' },
  mapping: { type: 'string' },
  'date-order': { type: 'string' },
  'time-zone': { type: 'string' },
  undo: { type: 'string' },
  json: { type: 'boolean' },
  'mail-to': { type: 'string' },
  'move-to': { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  write: { type: 'boolean' },
} as const

export type CommandOptions = {
  [Name in keyof typeof OPTIONS]?: (typeof OPTIONS)[Name]['type'] extends 'boolean' ? boolean : string
}

export interface CommandNeeds {
  db: Database
  now: () => number
  origin: string
  config: Config
}

export interface CommandInput {
  /** The words after the name of the command. */
  words: string[]
  options: CommandOptions
}

interface CommandFacts {
  /** One or two words. */
  name: string
  /** The words and options, as the usage text shows them. */
  form: string
  /** A description of the command, for the usage text. */
  help: string
  /** The maximum number of words after the name. A further word is an error, because it would be ignored silently. */
  words: number
  options: (keyof CommandOptions)[]
}

export interface Command extends CommandFacts {
  /** Creates something new. It may begin a data directory, and prints the directory to standard error. */
  creates?: true
  /** @returns the text for standard output */
  run(needs: CommandNeeds, input: CommandInput): Promise<string>
}

/** Works on the files of a data directory and opens no store, so that the files stay as they are. */
export interface FileCommand extends CommandFacts {
  /** @returns the text for standard output */
  runOnFiles(input: CommandInput): Promise<string>
}

/** A command that works without valid settings and without a database. */
export interface StandaloneCommand extends CommandFacts {
  /** @returns the text for standard output, and the exit code */
  runStandalone(input: CommandInput): Promise<{ output: string; exitCode: number }>
}

export type AnyCommand = Command | FileCommand | StandaloneCommand
