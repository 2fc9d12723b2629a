// The mark of the product: two banks and the path between them.

export const Logo = ({ size = 24 }: { size?: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden className="shrink-0">
    <rect width="32" height="32" rx="8" className="fill-accent" />
    <g className="fill-on-accent stroke-on-accent">
      <path d="M9 25c0-9 14-9 14-18" fill="none" strokeWidth="3.5" strokeLinecap="round" />
      <circle cx="23" cy="7" r="3" />
      <circle cx="9" cy="25" r="3" />
    </g>
  </svg>
)
