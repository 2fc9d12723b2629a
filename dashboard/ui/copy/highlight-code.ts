// Splits code into colored pieces: HTML with its styles and scripts, and JavaScript with JSX. For the code that the
// dashboard writes, not for every text.

export interface CodePiece {
  text: string
  kind?: 'comment' | 'tag' | 'name' | 'string' | 'keyword'
}

export type CodeLanguage = 'html' | 'js'

const KEYWORDS = 'async|await|catch|const|else|export|from|function|if|import|new|return|try|type'

/** Each alternative is a kind. A colon ends the name of a style only before a blank: `label:hover {` is no style. */
const SYNTAX = {
  html: /(?<comment><!--.*?-->)|(?<tag><\/?[a-z][a-z\d]*|\/?>)|(?<string>"[^"]*")|(?<name>[\w:-]+(?==")|\s(?:required|multiple|defer)\b)/gis,
  css: /(?<comment>\/\*.*?\*\/)|(?<string>"[^"]*")|(?<name>[\w-]+(?=: ))/gs,
  js: new RegExp(
    `(?<comment>//.*)|(?<string>'(?:[^'\\\\\\n]|\\\\.)*'|"(?:[^"\\\\\\n]|\\\\.)*")|(?<keyword>\\b(?:${KEYWORDS})\\b)|(?<tag></?[a-z][a-z\\d]*)`,
    'g',
  ),
}

function split(code: string, syntax: RegExp): CodePiece[] {
  const pieces: CodePiece[] = []
  let end = 0
  for (const match of code.matchAll(syntax)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    if (match.index > end) pieces.push({ text: code.slice(end, match.index) })
    pieces.push({ text: match[0], kind: kind as CodePiece['kind'] })
    end = match.index + match[0].length
  }
  return end < code.length ? [...pieces, { text: code.slice(end) }] : pieces
}

/** Whole tags, comments, and the text between them. */
const MARKUP = /<!--.*?-->|<\/?[a-z](?:"[^"]*"|[^">])*>/gis

function splitMarkup(code: string): CodePiece[] {
  const pieces: CodePiece[] = []
  let end = 0
  let inside: 'css' | 'js' | undefined
  const addText = (text: string) =>
    text !== '' && pieces.push(...(inside ? split(text, SYNTAX[inside]) : [{ text }]))
  for (const { 0: tag, index } of code.matchAll(MARKUP)) {
    // A tag in a script is a text of the script.
    if (inside && !/^<\/(?:style|script)/.test(tag)) continue
    addText(code.slice(end, index))
    pieces.push(...split(tag, SYNTAX.html))
    inside = /^<style/.test(tag) ? 'css' : /^<script/.test(tag) ? 'js' : undefined
    end = index + tag.length
  }
  addText(code.slice(end))
  return pieces
}

export const highlightCode = (code: string, language: CodeLanguage): CodePiece[] =>
  language === 'html' ? splitMarkup(code) : split(code, SYNTAX.js)
