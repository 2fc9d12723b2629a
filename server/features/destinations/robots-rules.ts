// Reads robots.txt (RFC 9309): the rules for one user agent. The longest rule that matches a path decides.

import { percentDecode } from '../../lib/text.ts'

export interface RobotsRules {
  /** @param path the path of a URL with its query */
  allows(path: string): boolean
}

interface Rule {
  allow: boolean
  pattern: string
}

/** No honest file has more. */
const RULES_MAX = 2_000
const LINE_MAX = 4_096

export const ALLOW_ALL: RobotsRules = { allows: () => true }

/**
 * @param agent the product token, such as `towpath`
 * @returns the rules of all groups that name the agent, else those of the groups for `*`
 */
export function parseRobots(text: string, agent: string): RobotsRules {
  const own: Rule[] = []
  const others: Rule[] = []
  let namesOwn = false
  let agents: string[] = []
  let inRules = false
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    const [name, value] = readLine(line)
    if (name === 'user-agent') {
      if (inRules) agents = []
      inRules = false
      agents.push(toProductToken(value))
      namesOwn ||= agents.includes(agent)
    } else if (name === 'allow' || name === 'disallow') {
      inRules = true
      // An empty value is no rule: it forbids nothing.
      if (value === '') continue
      const rule = { allow: name === 'allow', pattern: toComparable(value) }
      if (agents.includes(agent) && own.length < RULES_MAX) own.push(rule)
      if (agents.includes('*') && others.length < RULES_MAX) others.push(rule)
    }
  }
  // A group for the agent counts even without rules.
  return toRules(namesOwn ? own : others)
}

function readLine(line: string): [name: string, value: string] {
  const content = line.slice(0, LINE_MAX).split('#', 1)[0] ?? ''
  const colon = content.indexOf(':')
  if (colon === -1) return ['', '']
  return [content.slice(0, colon).trim().toLowerCase(), content.slice(colon + 1).trim()]
}

/** `Towpath/1.0` names the agent too (RFC 9309 §2.2.1). */
const toProductToken = (value: string) =>
  value === '*' ? '*' : (/^[a-z_-]+/i.exec(value)?.[0] ?? '').toLowerCase()

function toRules(rules: Rule[]): RobotsRules {
  if (rules.length === 0) return ALLOW_ALL
  // The longest pattern first, and Allow before Disallow of the same length (RFC 9309 §2.2.2).
  const sorted = rules.sort(
    (a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow),
  )
  return {
    allows(path) {
      const comparable = toComparable(path)
      return sorted.find(({ pattern }) => matches(pattern, comparable))?.allow ?? true
    },
  }
}

/** Encoded and plain characters are the same (RFC 9309 §2.2.2). Both sides are compared decoded, but for `/`, `*` and `$`. */
const toComparable = (path: string) =>
  percentDecode(path.replace(/%2f/gi, '%252F').replace(/%2a/gi, '%252A').replace(/%24/g, '%2524'))

/** `*` is any text, and `$` at the end is the end. Each part is searched once: the time grows with the path alone. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$')
  const [first = '', ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split('*')
  if (!path.startsWith(first)) return false
  let at = first.length
  const last = isWhole ? parts.pop() : undefined
  for (const part of parts) {
    const found = path.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  if (!isWhole) return true
  if (last === undefined) return at === path.length
  return path.length - last.length >= at && path.endsWith(last)
}
