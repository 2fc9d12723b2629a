// The button below a list that loads the next page of it. Draws nothing below the last page.

import { Button } from './button.tsx'

interface Props {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
  className?: string
  size?: 'small'
}

export const ShowMore = ({ query, className, size }: Props) =>
  query.hasNextPage && (
    <div className={className}>
      <Button size={size} busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show more
      </Button>
    </div>
  )
