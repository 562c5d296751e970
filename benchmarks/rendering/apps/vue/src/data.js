// Each part of the laws is a chunk of its own: the texts come with scripts, not as JSON.
const parts = import.meta.glob("./parts/*.json");

export const pages = Object.keys(parts).length;

export async function part(number) {
  return (await parts[`./parts/${number}.json`]()).default;
}
