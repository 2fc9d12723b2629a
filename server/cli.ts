// The operator's commands. They work while the server runs, on the same stores with the same verbs.

import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createKey, listKeys, revokeKey } from './features/accounts/access/keys.ts'
import { createResetLink } from './features/accounts/auth/reset-password.ts'
import { EmailAddress } from './features/accounts/schema.ts'
import { addMember, getUser } from './features/accounts/workspaces/add-member.ts'
import { changePlan } from './features/accounts/workspaces/change-plan.ts'
import { createUser } from './features/accounts/workspaces/create-user.ts'
import { createWorkspace } from './features/accounts/workspaces/create-workspace.ts'
import { deleteWorkspace, getWorkspaceContents } from './features/accounts/workspaces/delete-workspace.ts'
import { Failure } from './lib/failure.ts'
import { PLANS, type Plan } from './lib/plan.ts'
import { ROLES, type Role } from './lib/role.ts'
import { type Database, openDatabase } from './storage/database/open-database.ts'

const USAGE = `Usage: npm run -s towpath -- <command>

  workspace create <name> [--plan <plan>]     makes a workspace; prints JSON with its id
  workspace plan <id> <plan>                  changes its plan: ${PLANS.join(', ')}
  workspace delete <id> --yes                 removes it with its links, keys and clicks; without --yes, says what
  workspace member <id> <email> [--role <role>] lets a user in, or changes what they are: ${ROLES.join(', ')}
  user create <email> [--workspace <id>] [--role <role>] [--name <name>]
                                              makes a user; prints JSON with a link to set a password
  user reset <email>                          prints a link to set a new password: good once, for 30 minutes
  key create --workspace <id> [--name <name>] makes an API key; prints it alone, for the only time
  key revoke <id>                             ends a key; its very next request is refused
  key list --workspace <id>                   prints the keys of a workspace, without the keys themselves
  demo [--for <email>]                        fills a workspace with a month of a small company's links and leads`

/** What went wrong, in words for the operator. */
class CommandError extends Error {}

interface Given {
  words: string[]
  options: Options
  defaultPlan: Plan
}
type Options = {
  plan?: string
  name?: string
  workspace?: string
  role?: string
  yes?: boolean
  for?: string
  /** How many; for tests, which need few. */
  clicks?: string
}

interface Command {
  /** How many words follow the command; more would be ignored in silence. */
  words: number
  options: (keyof Options)[]
  run(
    needs: { db: Database; now: () => number; origin: string; config: Config },
    given: Given,
  ): Promise<string>
}

const COMMANDS: Record<string, Command> = {
  'workspace create': {
    words: 1,
    options: ['plan'],
    async run(needs, { words, options, defaultPlan }) {
      const name = nameOf(words[0] ?? '', 'A workspace')
      const plan = options.plan === undefined ? defaultPlan : planOf(options.plan)
      return JSON.stringify(await createWorkspace(needs, { name, plan }))
    },
  },
  'workspace plan': {
    words: 2,
    options: [],
    async run(needs, { words }) {
      return JSON.stringify(
        await changePlan(needs, idOf(words[0], 'The id of a workspace'), planOf(words[1])),
      )
    },
  },
  'workspace delete': {
    words: 1,
    options: ['yes'],
    async run(needs, { words, options }) {
      const id = idOf(words[0], 'The id of a workspace')
      if (options.yes) return JSON.stringify({ ...(await deleteWorkspace(needs, id)), deleted: true })
      const { name, links, tags, keys } = await getWorkspaceContents(needs, id)
      throw new CommandError(
        `This would remove workspace ${id}, ${JSON.stringify(name)}, for good: links: ${links}, tags: ${tags}, ` +
          `API keys: ${keys}, and all clicks ever counted on its links. Add --yes to do it.`,
      )
    },
  },
  'workspace member': {
    words: 2,
    options: ['role'],
    async run(needs, { words, options }) {
      const workspaceId = idOf(words[0], 'The id of a workspace')
      const member = { workspaceId, email: emailOf(words[1]), role: roleOf(options.role) }
      return JSON.stringify(await addMember(needs, member))
    },
  },
  'user create': {
    words: 1,
    options: ['workspace', 'role', 'name'],
    async run(needs, { words, options }) {
      const { workspace, role, name } = options
      if (role !== undefined && workspace === undefined) {
        throw new CommandError('--role is what the user is in a workspace: name it with --workspace.')
      }
      const user = await createUser(needs, {
        email: emailOf(words[0]),
        name: name === undefined ? undefined : nameOf(name, 'A user'),
        joins:
          workspace === undefined
            ? undefined
            : { workspaceId: idOf(workspace, '--workspace'), role: roleOf(role) },
      })
      return JSON.stringify({ ...user, url: await createResetLink(needs, user.id) })
    },
  },
  'user reset': {
    words: 1,
    options: [],
    async run(needs, { words }) {
      const user = await getUser(needs.db.read, emailOf(words[0]))
      return createResetLink(needs, user.id)
    },
  },
  'key create': {
    words: 0,
    options: ['workspace', 'name'],
    async run(needs, { options }) {
      const workspace = idOf(options.workspace, '--workspace')
      return (await createKey(needs, workspace, nameOf(options.name ?? 'command line', 'A key'))).key
    },
  },
  'key revoke': {
    words: 1,
    options: [],
    async run(needs, { words }) {
      const id = idOf(words[0], 'The id of a key')
      await revokeKey(needs, id)
      return JSON.stringify({ id, revoked: true })
    },
  },
  'key list': {
    words: 0,
    options: ['workspace'],
    async run(needs, { options }) {
      const keys = await listKeys(needs, idOf(options.workspace, '--workspace'))
      return keys.map((key) => JSON.stringify(key)).join('\n')
    },
  },
  demo: {
    words: 0,
    options: ['for', 'clicks'],
    async run({ db, config }, { options }) {
      // Read in when it is asked for: the other commands are quicker without its world.
      const [{ runDemo }, { createProgressBar }] = await Promise.all([
        import('./cli/demo/run-demo.ts'),
        import('./cli/progress-bar.ts'),
      ])
      const stop = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM']) {
        process.once(signal, () => stop.abort(new CommandError('Stopped: nothing of it stays.')))
      }
      const needs = { db, config, progress: createProgressBar(process.stderr), signal: stop.signal }
      return runDemo(needs, {
        for: options.for === undefined ? undefined : emailOf(options.for),
        clicks: options.clicks === undefined ? undefined : idOf(options.clicks, '--clicks'),
      })
    },
  },
}

function nameOf(text: string, what: string): string {
  const name = text.trim()
  if (name !== '' && name.length <= 100) return name
  throw new CommandError(`${what} needs a name of 1 to 100 characters.`)
}

function idOf(text: string | undefined, what: string): number {
  if (text && /^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new CommandError(`${what} must be a whole number.`)
}

function emailOf(text: string | undefined): string {
  const email = EmailAddress.safeParse(text)
  if (email.success) return email.data
  throw new CommandError('A user is named by an e-mail address.')
}

function roleOf(text: string | undefined): Role | undefined {
  const role = ROLES.find((known) => known === text?.toLowerCase())
  if (role || text === undefined) return role
  throw new CommandError(`A role is one of ${ROLES.join(', ')}.`)
}

function planOf(text: string | undefined): Plan {
  const plan = PLANS.find((known) => known === text?.toLowerCase())
  if (plan) return plan
  throw new CommandError(`A plan is one of ${PLANS.join(', ')}.`)
}

function parse(argv: string[]): { command: Command; words: string[]; options: Options } {
  const { positionals, values } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      name: { type: 'string' },
      workspace: { type: 'string' },
      role: { type: 'string' },
      yes: { type: 'boolean' },
      for: { type: 'string' },
      clicks: { type: 'string' },
    },
  })
  const name = positionals.slice(0, 2).join(' ')
  const words = positionals.slice(2)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) throw new CommandError(`There is no command "${name}".\n\n${USAGE}`)
  const surplus = words[command.words]
  if (surplus !== undefined) {
    throw new CommandError(`"${name}" takes no word "${surplus}". Put names of several words in quotes.`)
  }
  const strange = Object.keys(values).find((option) => !command.options.includes(option as keyof Options))
  if (strange) throw new CommandError(`"${name}" has no option --${strange}.`)
  return { command, words, options: values }
}

async function run(argv: string[]): Promise<string> {
  if (argv.length === 0 || ['help', '--help', '-h'].includes(argv[0] ?? '')) return USAGE
  const { command, words, options } = parse(argv)
  const config = readConfig()
  const db = await openDatabase(config)
  try {
    const needs = { db, now: Date.now, origin: config.origin, config }
    return await command.run(needs, { words, options, defaultPlan: config.defaultPlan })
  } finally {
    await db.close()
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.join('\n')
  if (!(error instanceof Error)) return String(error)
  if (error instanceof Failure && error.code === 'unavailable') {
    const reason = error.cause instanceof Error ? error.cause.message : 'it gave no reason'
    return `The database does not answer (${reason}). Start it, or correct DATABASE_URL.`
  }
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

// As the server: a command may be the first to make the data directory's files.
process.umask(0o077)
try {
  const output = await run(process.argv.slice(2))
  if (output !== '') process.stdout.write(`${output}\n`)
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
