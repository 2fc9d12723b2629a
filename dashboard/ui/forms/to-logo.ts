// Redraws a picture as a PNG for a brand. A script in an SVG does not run there, and only pixels are kept.

/** Twice the height of a logo on a page, for sharp screens. */
const HEIGHT = 96
const WIDTH_MAX = 480

/** @returns a data URL @throws for a file that is no picture */
export async function toLogo(file: File, heightMax = HEIGHT, widthMax = WIDTH_MAX): Promise<string> {
  const image = new Image()
  image.src = await readAsDataUrl(file)
  await image.decode()
  // An SVG without a size has none here.
  const ratio = (image.naturalWidth || 1) / (image.naturalHeight || 1)
  const height = Math.min(heightMax, Math.round(widthMax / ratio))
  const canvas = document.createElement('canvas')
  canvas.height = Math.max(1, height)
  canvas.width = Math.max(1, Math.round(height * ratio))
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no canvas')
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/png')
}

function readAsDataUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
