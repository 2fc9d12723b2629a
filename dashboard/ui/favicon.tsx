// The icon of a site, or the first letter of its name.

import { useState } from 'react'

const TILE = 'grid size-5 shrink-0 place-items-center overflow-hidden rounded-md'

export function Favicon({ name, icon }: { name: string; icon: string | undefined }) {
  const [broken, setBroken] = useState<string>()
  if (icon && icon !== broken)
    return (
      <span className={TILE}>
        <img src={icon} alt="" className="size-5 object-contain" onError={() => setBroken(icon)} />
      </span>
    )
  return (
    <span aria-hidden className={`${TILE} bg-sunken text-xs font-semibold text-soft uppercase`}>
      {name.replace(/^www\./, '').charAt(0)}
    </span>
  )
}
