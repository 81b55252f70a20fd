// Models from npm become layered bodies, with and without texture coordinates.
//
// usage: node check_models.mjs MODEL_CHECK FOLDER
//
// The bunny is closed. The two teapots have holes and parts that pass through each other, the bust is an open shell.
import {spawnSync} from 'node:child_process';
import {copyFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

const require = createRequire(import.meta.url);
const [program, folder] = process.argv.slice(2);

function writeObj(name, {positions, cells}) {
  const lines = [...positions.map((p) => `v ${p.join(' ')}`), ...cells.map((c) => `f ${c.map((i) => i + 1).join(' ')}`)];
  writeFileSync(join(folder, `${name}.obj`), `${lines.join('\n')}\n`);
}

mkdirSync(folder, {recursive: true});
try {
  writeObj('bunny', require('bunny'));
  writeObj('teapot', require('teapot'));
  writeObj('bust', require('snowden/lo'));
  copyFileSync(require.resolve('utah-teapot/teapot.obj'), join(folder, 'utah_teapot.obj'));
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error;
  console.log('SKIPPED: the models are not installed (npm ci in tests/tools installs them)');
  process.exit(77);
}
const files = ['bunny', 'teapot', 'utah_teapot', 'bust'].map((name) => join(folder, `${name}.obj`));
process.exit(spawnSync(program, files, {stdio: 'inherit'}).status ?? 1);
