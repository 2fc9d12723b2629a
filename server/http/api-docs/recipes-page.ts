// Renders /docs/recipes from recipes.md: the same tasks in several languages, with the address of this server.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The languages of the code blocks, with their names on the page. */
const LANGUAGES = { sh: 'curl', ts: 'TypeScript', py: 'Python' } as const
type Language = keyof typeof LANGUAGES

interface Recipe {
  title: string
  text: string
  code: Record<Language, string>
}

/** The address in recipes.md. The page has the server's own in its place. */
const EXAMPLE_ORIGIN = 'https://go.example'

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const toId = (title: string) => title.toLowerCase().replace(/\W+/g, '-')

/** Paragraphs with `code` and <https://…>, the only Markdown that the page uses. */
const renderText = (text: string) =>
  escapeHtml(text.trim())
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/&lt;(https:[^&]+)&gt;/g, '<a href="$1">$1</a>')

function parseRecipe(section: string): Recipe {
  const [title = '', ...rest] = section.split('\n')
  const blocks = rest.join('\n').split(/^```(\w*)\n/m)
  const code = Object.fromEntries(
    (Object.keys(LANGUAGES) as Language[]).map((language) => {
      const at = blocks.indexOf(language)
      if (at === -1) throw new Error(`recipes.md: "${title}" has no code in ${language}`)
      return [language, blocks[at + 1] as string]
    }),
  ) as Recipe['code']
  return { title, text: blocks[0] ?? '', code }
}

const renderRecipe = ({ title, text, code }: Recipe) => `<section aria-labelledby="${toId(title)}">
<h2 id="${toId(title)}">${escapeHtml(title)}</h2>
<p>${renderText(text)}</p>
${Object.entries(LANGUAGES)
  .map(
    ([language, name]) =>
      `<figure class="${language}"><figcaption>${name}</figcaption><pre tabindex="0" aria-label="${name}"><code>${escapeHtml(code[language as Language])}</code></pre></figure>`,
  )
  .join('\n')}
</section>`

/** Style sheets choose which language is shown: the page needs no script for it. */
const renderChoice = () =>
  Object.entries(LANGUAGES)
    .map(
      ([language, name], index) =>
        `<label><input type="radio" name="language" value="${language}"${index === 0 ? ' checked' : ''}> ${name}</label>`,
    )
    .join('\n')

/** @param origin the server's public origin, such as `https://go.example` */
export function renderRecipes(origin: string): string {
  const [head = '', ...sections] = readFileSync(join(import.meta.dir, 'recipes.md'), 'utf8')
    .replaceAll(EXAMPLE_ORIGIN, origin)
    .split(/^## /m)
  const recipes = sections.map(parseRecipe)
  return `<nav aria-label="Documentation"><a href="/docs">API reference</a> <a href="/docs/recipes" aria-current="page">Recipes</a>
<a href="/v1/openapi.json">openapi.json</a> <a href="/app">Dashboard</a></nav>
<main class="recipes">
<h1>Recipes</h1>
<p>${renderText(head.replace(/^# .*$/m, ''))}</p>
<ul class="contents">${recipes.map(({ title }) => `<li><a href="#${toId(title)}">${escapeHtml(title)}</a></li>`).join('')}</ul>
<fieldset><legend>Language</legend>
${renderChoice()}
</fieldset>
${recipes.map(renderRecipe).join('\n')}
</main>
<script src="/docs/recipes.js"></script>`
}
