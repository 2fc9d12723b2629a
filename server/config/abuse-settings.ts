// Settings against abuse: the hosts that no link may lead to, and the address for reports.

import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isEmail } from '../lib/email.ts'
import type { ProblemReporter } from './setting.ts'

export function readBlocklistPath(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text === undefined) return undefined
  const path = resolve(text)
  const fix = 'Give the path of a file with one host a line, or leave it out.'
  try {
    accessSync(path, constants.R_OK)
    if (!statSync(path).isFile()) wrong('DESTINATION_BLOCKLIST', `${path} is not a file`, fix)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    wrong('DESTINATION_BLOCKLIST', `${path} cannot be read (${reason})`, fix)
  }
  return path
}

export function readAbuseEmail(text: string | undefined, wrong: ProblemReporter): string | undefined {
  if (text !== undefined && !isEmail(text)) {
    wrong('ABUSE_EMAIL', `"${text}" is not an email address`, 'Use an address such as abuse@example.com.')
  }
  return text
}
