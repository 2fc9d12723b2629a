// The brand of a workspace on a page that visitors see: its logo, its color and its footer.

import { createHash } from 'node:crypto'
import { html } from 'hono/html'

export interface PageBrand {
  name: string | null
  /** A path on this server. */
  logo: string | null
  /** `#rrggbb`, on which white text can be read, and its lighter version for the dark scheme. */
  color: { light: string; dark: string } | null
  footer: string | null
}

export interface BrandParts {
  style: string
  /** What the page's policy must allow. */
  sources: { style: string[]; image: string }
  header: ReturnType<typeof html> | ''
  footer: ReturnType<typeof html> | ''
}

const LAYOUT = `
body { align-content: center; gap: 1rem }
.brand { display: flex; align-items: center; gap: .75rem; width: 100%; max-width: 30rem; font-weight: 600 }
.brand img { max-width: 12rem; max-height: 3rem }
footer { width: 100%; max-width: 30rem; font-size: .875rem; color: var(--soft); white-space: pre-wrap }
`

export function toBrandParts(brand: PageBrand | undefined): BrandParts {
  if (!brand) return { style: '', sources: { style: [], image: '' }, header: '', footer: '' }
  const { name, logo, color, footer } = brand
  const colors = color
    ? `:root { --go: ${color.light}; --on-go: #fff }
@media (prefers-color-scheme: dark) { :root { --go: ${color.dark}; --on-go: #0c1512 } }\n`
    : ''
  const style = `${colors}${LAYOUT}`
  return {
    style,
    sources: {
      style: [` 'sha256-${createHash('sha256').update(style).digest('base64')}'`],
      image: logo === null ? '' : "; img-src 'self'",
    },
    header:
      logo === null && name === null
        ? ''
        : html`<div class="brand">${logo === null ? html`<span>${name}</span>` : html`<img src="${logo}" alt="${name ?? ''}">`}</div>`,
    footer: footer === null ? '' : html`<footer>${footer}</footer>`,
  }
}
