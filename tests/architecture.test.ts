// The house rules of ARCHITECTURE.md, held by a test and not by memory. That each rule bites is shown in
// support/architecture.test.ts.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Exception, type File, violations } from './support/architecture.ts'
import { ownedTables } from './support/architecture-workspace.ts'

const OPERATOR = 'for the operator on the command line, who is above workspaces'
const JOB = 'a background job: nobody asks, and it is about every workspace'
const OWN_ACCOUNT =
  'about the person’s own account: who may sign up or in is its own rule, before there is an actor'
const BEFORE_ACTOR = 'part of finding out who asks: the key itself says which workspace'

const except = (rule: Exception['rule'], file: string, what: string, why: string): Exception => {
  return { rule, file: `server/features/${file}`, what, why }
}

const EXCEPTIONS: Exception[] = [
  except(
    'workspace',
    'links/resolve.ts',
    'readLink',
    'a redirect knows only the slug, which says whose link it is',
  ),
  except(
    'workspace',
    'links/list.ts',
    'listLinks',
    'filtered(), which makes both queries, names the workspace',
  ),
  except('workspace', 'links/count-clicks.ts', 'addClicks', JOB),
  except('workspace', 'accounts/sign-up.ts', 'openInvitations', OWN_ACCOUNT),
  except('allow', 'accounts/sign-up.ts', 'signUp', OWN_ACCOUNT),
  except('allow', 'accounts/sign-up.ts', '', OWN_ACCOUNT),
  except('allow', 'accounts/reset.ts', 'makeResetLink', OWN_ACCOUNT),
  except('allow', 'accounts/reset.ts', 'resetPassword', OWN_ACCOUNT),
  except('allow', 'accounts/session.ts', 'moveEnd', OWN_ACCOUNT),
  except('allow', 'accounts/session.ts', 'endSessions', OWN_ACCOUNT),
  except('allow', 'accounts/session.ts', 'forgetEndedSessions', JOB),
  except('allow', 'accounts/adapter.ts', 'open', OWN_ACCOUNT),
  except('allow', 'accounts/adapter.ts', 'tableAccess', OWN_ACCOUNT),
  except('workspace', 'accounts/keys.ts', 'findKeyActor', BEFORE_ACTOR),
  except('workspace', 'accounts/keys.ts', 'noteUse', BEFORE_ACTOR),
  except('workspace', 'accounts/keys.ts', 'revokeKey', OPERATOR),
  except(
    'workspace',
    'accounts/invitations.ts',
    'findInvitation',
    'whoever has the link knows only its token, which says whose invitation it is',
  ),
  except('workspace', 'accounts/invitations.ts', 'forgetOldInvitations', JOB),
  except('workspace', 'accounts/idempotency.ts', 'forgetOldKeys', JOB),
  except(
    'allow',
    'accounts/idempotency.ts',
    'answerWithin',
    'keeps an answer beside the verb, which asks for itself',
  ),
  except(
    'allow',
    'accounts/idempotency.ts',
    'answerOutside',
    'keeps an answer beside the verb, which asks for itself',
  ),
  except('workspace', 'notify/turns.ts', 'channelsBetween', JOB),
  except('workspace', 'notify/claim.ts', 'channelsOf', JOB),
  except('workspace', 'notify/claim.ts', 'claim', JOB),
  except('workspace', 'notify/claim.ts', 'giveUp', JOB),
  except('workspace', 'notify/claim.ts', 'releaseLeases', JOB),
  except('workspace', 'notify/delivery-figures.ts', 'countDeliveries', JOB),
  except('workspace', 'notify/record.ts', 'lockChannels', JOB),
  except('workspace', 'notify/record.ts', 'recordDelivered', JOB),
  except('workspace', 'notify/record.ts', 'forgetOldAttempts', JOB),
  except('allow', 'notify/claim.ts', 'releaseLeases', JOB),
  except('allow', 'notify/deliver.ts', 'openDeliverer', JOB),
  except('allow', 'notify/record.ts', 'forgetOldAttempts', JOB),
  except('allow', 'accounts/idempotency.ts', 'forgetOldKeys', JOB),
  except('allow', 'accounts/add-member.ts', 'createUser', OPERATOR),
  except('allow', 'accounts/add-member.ts', 'addMember', OPERATOR),
  except(
    'allow',
    'accounts/found-workspace.ts',
    'foundWorkspace',
    'whoever has signed in may have their own',
  ),
  except('allow', 'accounts/join.ts', 'acceptInvitation', 'the invitation is what allows it'),
  except('allow', 'accounts/invitations.ts', 'forgetOldInvitations', JOB),
  except('allow', 'accounts/keys.ts', 'createKey', OPERATOR),
  except('allow', 'accounts/keys.ts', 'revokeKey', OPERATOR),
  except('allow', 'accounts/keys.ts', 'noteUse', BEFORE_ACTOR),
  except('allow', 'accounts/limits.ts', 'forgetOldWindows', JOB),
  except('allow', 'accounts/workspaces.ts', 'createWorkspace', OPERATOR),
  except('allow', 'accounts/workspaces.ts', 'changePlan', OPERATOR),
  except('allow', 'accounts/workspaces.ts', 'deleteWorkspace', OPERATOR),
  except('allow', 'hits/erasures.ts', 'eraseDeleted', JOB),
  except('allow', 'links/count-clicks.ts', 'countClicks', JOB),
  except('allow', 'links/use-click.ts', 'useClick', 'done by a visitor, who is no actor'),
  except('allow', 'hits/salts.ts', 'ensureSalts', JOB),
  except('allow', 'attribution/decide.ts', 'decide', JOB),
  except('allow', 'forms/attempts.ts', 'store', JOB),
  except('workspace', 'forms/attempts.ts', 'store', JOB),
  except('allow', 'forms/captcha-tokens.ts', 'forgetSpentTokens', JOB),
  except(
    'workspace',
    'forms/form-facts.ts',
    'readFacts',
    'a page knows only keys, which say whose forms they are',
  ),
  except(
    'workspace',
    'forms/form-settings.ts',
    'askByKey',
    'a form’s key is what is public, and says whose form it is',
  ),
  except('allow', 'forms/submit.ts', 'storeSubmission', 'done by a visitor, who is no actor'),
  except(
    'fetch',
    'forms/turnstile.ts',
    '',
    'the address is the operator’s own setting, which may be a private one',
  ),
]

const ROOT = join(import.meta.dir, '..')

async function filesOfRepository(): Promise<File[]> {
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  // A copy without its history has nothing that git would ignore but what was installed or stored.
  const everything = () =>
    [...new Bun.Glob('**').scanSync({ cwd: ROOT, dot: true })].filter(
      (path) => !/^(node_modules|data|\.git)\//.test(path),
    )
  const paths = listed.success ? listed.stdout.toString().split('\0').filter(Boolean) : everything()
  const files: File[] = []
  for (const path of paths) {
    const file = Bun.file(join(ROOT, path))
    if (await file.exists()) files.push({ path, text: await file.text() })
  }
  return files
}

/** What only means something on the machine where it was written. */
const PRIVATE_WORDS = [
  /(?<![\w.~:/-])\/(?:work|home|root|Users)\/[\w.-]+/,
  /\/tmp\/bash_jobs/,
  /registry\.(?:npmjs|yarnpkg|npmmirror)\.|\b(?:proxy\.golang|pypi)\.org\b/,
]

const privateWords = (text: string) => PRIVATE_WORDS.flatMap((word) => word.exec(text)?.[0] ?? [])

describe('this house', () => {
  test('keeps its rules', async () => {
    const found = violations(await filesOfRepository(), EXCEPTIONS)
    expect(found.map(({ file, line, rule, message }) => `${file}:${line} ${rule}: ${message}`)).toEqual([])
  })

  test('is read as it is meant: the rules see the tables that belong to workspaces', async () => {
    const tables = await Bun.file(join(ROOT, 'server/storage/rows/tables.ts')).text()
    expect(ownedTables(tables)).toEqual(expect.arrayContaining(['api_keys', 'links', 'tags', 'link_tags']))
    expect(ownedTables(tables)).not.toContain('workspaces')
  })

  test('names no place of the machine it was built on', async () => {
    const slash = '/'
    for (const place of [`cd ${slash}work/main`, `'${slash}home/jo/x'`, `https://registry${'.'}npmjs.org/`]) {
      expect(privateWords(place)).toHaveLength(1)
    }
    expect(privateWords('https://example.com/work/shop and ./work/x')).toEqual([])
    const found = (await filesOfRepository()).flatMap(({ path, text }) =>
      path === 'package-lock.json' ? [] : privateWords(text).map((word) => `${path}: ${word}`),
    )
    expect(found).toEqual([])
  })
})
