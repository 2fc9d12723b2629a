// A finding of the page check, and the helpers that write its texts.

import { z } from '@hono/zod-openapi'
import { quote } from '../../../lib/text.ts'

export const SEVERITIES = ['error', 'warning', 'info'] as const

export const FindingShape = z
  .strictObject({
    code: z
      .string()
      .openapi({ description: 'One code for each kind of mistake', example: 'method_not_post' }),
    severity: z.enum(SEVERITIES).openapi({
      description: 'error: submissions are lost or refused; warning: something will not work as intended',
    }),
    message: z.string(),
    fix: z.string().openapi({ description: 'How to fix it, with a line to paste where there is one' }),
  })
  .openapi('FormFinding')
export type Finding = z.infer<typeof FindingShape>
export type Severity = Finding['severity']
export type Findings = Generator<Finding, void>

export const createFinding = (severity: Severity, code: string, message: string, fix: string): Finding => {
  return { code, severity, message, fix }
}
export const foundError = createFinding.bind(null, 'error')
export const foundWarning = createFinding.bind(null, 'warning')

const LISTED_MAX = 8

/** Quotes names of the page for a message, each once. */
export function quoteList(names: string[]): string {
  const unique = [...new Set(names)]
  const shown = unique.slice(0, LISTED_MAX).map(quote).join(', ')
  return unique.length > LISTED_MAX ? `${shown} and ${unique.length - LISTED_MAX} more` : shown
}

const escapeAttribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Writes an element to paste, with escaped values. An attribute with an empty value has no `=`. */
export const formatElement = (name: string, attributes: Record<string, string>) =>
  `<${name}${Object.entries(attributes)
    .map(([key, value]) => (value === '' ? ` ${key}` : ` ${key}="${escapeAttribute(value)}"`))
    .join('')}>`

// A maximum for people to read. A hostile page can cause thousands.
const FINDINGS_MAX = 100

/** @returns each finding once, errors first, at most FINDINGS_MAX */
export function sortFindings(findings: Finding[]): Finding[] {
  const unique = new Map(findings.map((finding) => [`${finding.code} ${finding.message}`, finding]))
  return [...unique.values()]
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
    .slice(0, FINDINGS_MAX)
}
