// Reads TypeScript as text, as far as the rules need it: imports, exported names, functions and their lengths, call
// chains. It relies on Biome's formatting and needs no compiler.

export interface SourceFile {
  path: string
  text: string
  /** `text` with comments and the insides of strings, templates and patterns blanked. Positions and lines stay. */
  code: string
  /** From each bracket of `code` to its partner, both ways. */
  bracketPartners: Map<number, number>
  /** Where each template literal begins and ends. */
  templates: { start: number; end: number }[]
}

export function parseSource(path: string, text: string): SourceFile {
  const { code, templates } = blankNonCode(text)
  return { path, text, code, templates, bracketPartners: pairBrackets(code) }
}

export const toLineNumber = (text: string, at: number) => text.slice(0, at).split('\n').length

/** Characters that may stand before a `/` that begins a pattern. `<` and `}` may not: JSX has `</p>` and `{x} />`. */
const BEFORE_PATTERN = /(?:[(,=:[!&|?{;+\-*%>~^]|\b(?:return|typeof|case|in|of))\s*$/
const PATTERN = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y

const spaces = (text: string) => text.replace(/[^\n]/g, ' ')

function blankNonCode(text: string): { code: string; templates: SourceFile['templates'] } {
  const templates: SourceFile['templates'] = []
  const openTemplates: number[] = []
  /** For each open brace: whether it began a `${` of a template. */
  const braces: boolean[] = []
  let code = ''
  let inTemplate = false
  const matched = (pattern: RegExp) => {
    pattern.lastIndex = code.length
    return pattern.exec(text)?.[0]
  }
  while (code.length < text.length) {
    const char = text[code.length] as string
    if (inTemplate) {
      if (char === '`') {
        inTemplate = false
        code += char
        templates.push({ start: openTemplates.pop() as number, end: code.length })
      } else if (char === '$' && text[code.length + 1] === '{') {
        inTemplate = false
        braces.push(true)
        code += '  '
      } else code += char === '\\' ? spaces(text.slice(code.length, code.length + 2)) : spaces(char)
      continue
    }
    const comment = matched(COMMENT)
    const string = comment === undefined ? matched(STRING) : undefined
    const pattern =
      char === '/' && !comment && BEFORE_PATTERN.test(code.slice(-20)) ? matched(PATTERN) : undefined
    if (comment !== undefined) code += spaces(comment)
    else if (string !== undefined) code += char + spaces(string.slice(2)) + char
    else if (pattern !== undefined) code += spaces(pattern)
    else if (char === '`') {
      openTemplates.push(code.length)
      inTemplate = true
      code += char
    } else if (char === '}' && braces.pop()) {
      inTemplate = true
      code += ' '
    } else {
      if (char === '{') braces.push(false)
      code += char
    }
  }
  return { code, templates }
}

function pairBrackets(code: string): Map<number, number> {
  const partner = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < code.length; at++) {
    if ('([{'.includes(code[at] as string)) open.push(at)
    else if (')]}'.includes(code[at] as string)) {
      const start = open.pop()
      if (start === undefined) continue
      partner.set(start, at)
      partner.set(at, start)
    }
  }
  return partner
}

export interface SourceImport {
  specifier: string
  typeOnly: boolean
  line: number
}

const IMPORTS = [
  /\bimport\s+(type\s+)?[\w$*{}\s,]+?\bfrom\s*(['"])/g,
  /\bexport\s+(type\s+)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})\s*from\s*(['"])/g,
  /\bimport()\s*(['"])/g,
  /(typeof\s+)?\bimport\s*\(\s*(['"])/g,
  /\brequire()\s*\(\s*(['"])/g,
]

export function listImports({ text, code }: SourceFile): SourceImport[] {
  return IMPORTS.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => {
      const start = match.index + match[0].length
      const end = text.indexOf(match[2] as string, start)
      return {
        specifier: text.slice(start, end),
        typeOnly: Boolean(match[1]),
        line: toLineNumber(text, match.index),
      }
    }),
  )
}

export interface ExportedName {
  name: string
  /** The keyword that declares it. */
  kind: string
  line: number
}

/** The names that a file declares and exports. A name that it only passes on belongs to another file. */
export function listExportedNames({ code }: SourceFile): ExportedName[] {
  const declarations =
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(function|const|let|class|interface|type|enum)\b\*? ([\w$]+)/gm
  return [...code.matchAll(declarations)].map((match) => ({
    name: match[2] as string,
    kind: match[1] as string,
    line: toLineNumber(code, match.index),
  }))
}

export interface SourceFunction {
  /** '' for a callback. */
  name: string
  exported: boolean
  start: number
  end: number
  line: number
  /** From the first to the last, inner functions included. */
  lines: number
}

const NOT_METHODS = new Set('if for while switch catch with function return await super'.split(' '))

export function listFunctions(source: SourceFile): SourceFunction[] {
  const { code, bracketPartners } = source
  const found: SourceFunction[] = []
  const add = (name: string, at: number, end: number) => {
    const start = code.lastIndexOf('\n', at) + 1
    const exported = code.startsWith('export', start)
    if (found.some((other) => other.end === end)) return
    const line = toLineNumber(code, start)
    found.push({ name, exported, start, end, line, lines: toLineNumber(code, end) - line + 1 })
  }
  for (const match of code.matchAll(/\bfunction\b\s*\*?\s*([\w$]*)[^(]*\(/g)) {
    const body = findBody(source, match.index + match[0].length - 1)
    if (body !== undefined) add(match[1] as string, match.index, bracketPartners.get(body) as number)
  }
  for (const match of code.matchAll(
    /^[ \t]+(?:async\s+)?\*?(?:get\s+|set\s+)?([\w$]+)\s*(?:<[^(\n]*>)?\(/gm,
  )) {
    if (NOT_METHODS.has(match[1] as string)) continue
    const body = findBody(source, match.index + match[0].length - 1)
    if (body !== undefined)
      add(match[1] as string, match.index + match[0].length - 1, bracketPartners.get(body) as number)
  }
  for (const match of code.matchAll(/=>\s*\{/g)) {
    const at = findArrowStart(source, match.index)
    // An arrow has a name where it is assigned directly. In `const id = await write(async () => {` it is a callback.
    const before = code.slice(code.lastIndexOf('\n', at) + 1, at)
    const name = /([\w$]+)(?::[^=]*|\s*)[=:]\s*(?:async\s*)?(?:<[^(]*>)?$/.exec(before)?.[1]
    const end = bracketPartners.get(match.index + match[0].length - 1)
    if (end !== undefined) add(name ?? '', at, end)
  }
  return found
}

/** The brace that opens the body of the function whose parameters begin at `paren`; undefined for a signature. */
function findBody({ code, bracketPartners }: SourceFile, paren: number): number | undefined {
  const close = bracketPartners.get(paren)
  if (close === undefined) return undefined
  const next = code.slice(close + 1).search(/\S/) + close + 1
  if (code[next] === '{') return next
  if (code[next] !== ':') return undefined
  for (let at = next + 1; at < code.length; at++) {
    const char = code[at] as string
    if (char === '{' && !/(?:[:|&,(<]|=>|\bis)\s*$/.test(code.slice(next, at))) return at
    if ('([{'.includes(char)) at = bracketPartners.get(at) ?? code.length
    else if (')]}'.includes(char) || code.startsWith('\n\n', at)) return undefined
  }
  return undefined
}

/** Where the parameters of an arrow begin. They may begin some lines above it. */
function findArrowStart({ code, bracketPartners }: SourceFile, arrow: number): number {
  const line = code.lastIndexOf('\n', arrow) + 1
  const first = code.slice(line).search(/\S/) + line
  if (')]}'.includes(code[first] as string)) return bracketPartners.get(first) ?? arrow
  const close = code.slice(0, arrow).trimEnd().length - 1
  return code[close] === ')' ? (bracketPartners.get(close) ?? arrow) : arrow
}

/** A call and the calls chained to it: `.selectFrom(…).where(…).execute()`. `paren` opens the first call's arguments. */
export function readCallChain({ text, code, bracketPartners }: SourceFile, name: string, paren: number) {
  const calls: { name: string; args: string }[] = []
  let call = { name, paren }
  for (;;) {
    const close = bracketPartners.get(call.paren)
    if (close === undefined) return { calls, end: code.length }
    calls.push({ name: call.name, args: text.slice(call.paren + 1, close) })
    const next = /^\s*\??\.\s*([\w$]+)\s*(?:<[^(\n]*>)?\(/.exec(code.slice(close + 1))
    if (!next) return { calls, end: close }
    call = { name: next[1] as string, paren: close + next[0].length }
  }
}
