// The icon of a browser, system or source, or the first letter of its name. Loaded after the page: its data weighs 21 KB.

import BRANDS from './brand-icons.json'

const brands = new Map(Object.entries(BRANDS))

export function BrandGlyph({ name }: { name: string }) {
  const [color, path] = brands.get(name) ?? []
  if (path)
    return (
      <svg viewBox="0 0 24 24" className="size-4" fill={color || 'currentColor'} aria-hidden>
        <path d={path} />
      </svg>
    )
  return (
    <span className="grid size-4 place-items-center rounded bg-sunken text-[10px] font-semibold text-soft uppercase">
      {[...name][0]}
    </span>
  )
}
