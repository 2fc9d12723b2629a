// The bar behind a row of a top list, in proportion to the largest row.

/** @param part from 0 to 1, where the largest row is 1 */
export const Bar = ({ part }: { part: number }) => (
  <span
    aria-hidden
    // At least a visible sliver.
    style={{ width: `${Math.max(part * 100, 0.6)}%` }}
    className="absolute inset-y-0.5 left-0 rounded-md bg-tint transition-[width] duration-300"
  />
)
