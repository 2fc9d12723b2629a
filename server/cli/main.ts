// The operator's command line. A command works while the server runs: it uses the same stores and the same functions.

import { parseArgs } from 'node:util'
import { readConfig, readDataDirectory } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
import type { DataDirectory } from '../config/storage-settings.ts'
import { Failure } from '../lib/failure.ts'
import { setLogFormat, setLogLevel } from '../lib/log.ts'
import { createRequestContext, runForRequest } from '../lib/telemetry/request-context.ts'
import { requireOwnFormats } from '../start/open-rows.ts'
import { openDatabase } from '../storage/database/open-database.ts'
import { type AnyCommand, CommandError, type CommandInput, OPTIONS } from './command.ts'
import { COMMANDS, formatUsage } from './commands.ts'

function parse(argv: string[]): CommandInput & { command: AnyCommand } {
  const { positionals, values } = parseArgs({ args: argv, allowPositionals: true, options: OPTIONS })
  const begin = (count: number) => positionals.slice(0, count).join(' ')
  const command = COMMANDS.find(({ name }) => name === begin(2) || name === begin(1))
  if (!command) throw new CommandError(`There is no command "${begin(2)}".\n\n${formatUsage(positionals[0])}`)
  const { name } = command
  const words = positionals.slice(name.split(' ').length)
  const surplus = words[command.words]
  if (surplus !== undefined) {
    throw new CommandError(`"${name}" takes no word "${surplus}". Put names of several words in quotes.`)
  }
  const known: string[] = command.options
  const unknown = Object.keys(values).find((option) => !known.includes(option))
  if (unknown) throw new CommandError(`"${name}" has no option --${unknown}.`)
  return { command, words, options: values }
}

async function run(argv: string[]): Promise<string> {
  const [first = 'help'] = argv
  if (first === 'help' || argv.some((word) => word === '--help' || word === '-h')) return formatUsage(first)
  const { command, ...input } = parse(argv)
  if ('runOnFiles' in command) return command.runOnFiles(input)
  if ('runStandalone' in command) {
    const { output, exitCode } = await command.runStandalone(input)
    process.exitCode = exitCode
    return output
  }
  const directory = readDataDirectory()
  // A mistyped DATA_DIR would become a second installation, without the rows that the command is about.
  const mayBegin = directory.isNamed && (command.creates || directory.isShared)
  if (!directory.isInUse && !mayBegin) throw new CommandError(explainMissing(directory))
  const config = readConfig()
  setLogLevel(config.logLevel)
  setLogFormat(config.logFormat)
  await requireOwnFormats(config.dataDir)
  const db = await openDatabase(config)
  if (!directory.isInUse) process.stderr.write(`New data directory: ${directory.path}\n`)
  try {
    const needs = { db, now: Date.now, origin: config.origin, config }
    // All log lines of one command have one id, as those of a request.
    const context = createRequestContext(crypto.randomUUID(), command.name)
    const output = await runForRequest(context, () => command.run(needs, input))
    if (command.creates && directory.isInUse) process.stderr.write(`Data directory: ${directory.path}\n`)
    return output
  } finally {
    await db.close()
  }
}

/** A command without the server's DATA_DIR must not create a second directory by mistake. */
const explainMissing = ({ path, isNamed }: DataDirectory) =>
  isNamed
    ? `No server has kept anything in ${path}. Set DATA_DIR to the directory of your server.`
    : `No server has kept anything in ${path}, and DATA_DIR is not set.
Set it to the directory of your server: DATA_DIR=/var/lib/towpath npx towpath …
Or begin there: start the server first (npm start), or set DATA_DIR=./data.`

/** The message of an error for the operator. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.join('\n')
  if (!(error instanceof Error)) return String(error)
  if (error instanceof Failure && error.code === 'unavailable') {
    const reason = error.cause instanceof Error ? error.cause.message : 'it gave no reason'
    return `The database does not answer (${reason}). Start it, or correct DATABASE_URL.`
  }
  const { path, message }: NodeJS.ErrnoException = error
  // Such as: ENOENT: no such file or directory, open '/backups/1.zip'
  const reason = path && /^E[A-Z]+: ([^,]+),/.exec(message)?.[1]
  if (reason) return `${path} cannot be used: ${reason}. Name another path, or correct this one.`
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

// As in the server: a command may be the first to create files in the data directory.
process.umask(0o077)
try {
  const output = await run(process.argv.slice(2))
  if (output !== '') process.stdout.write(`${output}\n`)
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
