// The bar behind a row: as long as its part of the longest.

/** @param part from 0 to 1 */
export const Bar = ({ part }: { part: number }) => (
  <span
    aria-hidden
    // A sliver is still seen.
    style={{ width: `${Math.max(part * 100, 0.6)}%` }}
    className="absolute inset-y-0.5 left-0 rounded-md bg-tint transition-[width] duration-300"
  />
)
