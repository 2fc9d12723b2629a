// The texts of a reply: its subject, the quoted message, a template with the values of the submission, and the address that
// opens the mail program.

import type { Submission } from '../../../api/submissions.ts'
import { findMessage, toSenderName } from './display-text.ts'

const QUOTE_MAX = 4_000
/** Windows hands at most about 2,000 characters to a mail program. */
const MAILTO_MAX = 1_800

const toOneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

export const toReplySubject = ({ formName }: Submission) => `Re: ${toOneLine(formName)}`.slice(0, 200)

/** The submission, quoted as mail programs do. */
export function quoteMessage(submission: Submission, when: string): string {
  const message = findMessage(submission)?.slice(0, QUOTE_MAX)
  if (!message) return ''
  const lines = message.split(/\r?\n/).map((line) => `> ${line}`)
  return `\n\nOn ${when}, ${toOneLine(toSenderName(submission))} wrote:\n${lines.join('\n')}\n`
}

/** Unknown fields stay, so that the writer sees them. */
export const fillTemplate = (text: string, { fields }: Submission) =>
  text.replace(/\{\{\s*([^{}\r\n]{1,256}?)\s*\}\}/g, (placeholder, name: string) =>
    Object.hasOwn(fields, name) ? (fields[name] ?? '').trim() : placeholder,
  )

/** @returns the address with as much of the text as fits */
export function toMailto(email: string, subject: string, text: string): string {
  const head = `mailto:${encodeURIComponent(email).replace('%40', '@')}?subject=${encodeURIComponent(subject)}&body=`
  const characters = [...text.toWellFormed().replace(/\r?\n/g, '\r\n')]
  let body = ''
  for (const character of characters) {
    const next = encodeURIComponent(character)
    if (head.length + body.length + next.length > MAILTO_MAX) break
    body += next
  }
  return head + body
}
