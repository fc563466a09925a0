/* Calls what exports of names.lua declare; driver.c says what comes of it. */
#include <stdio.h>

#include "double.h"
#include "exp.h"
#include "main.h"

static int counted = 0;
static CUresult noted(CUresult result)
{
    ++counted;
    if (result != CUDA_SUCCESS) printf("call %d: error %d\n", counted, (int)result);
    return result;
}

int main(void)
{
    double_kernel d;
    exp_kernel e;
    main_kernel m;
    unsigned grid_x = 0;
    CUstream stream = (CUstream)&d;
    if (noted(double_load(&d)) != CUDA_SUCCESS) return 1;
    noted(double_launch(&d, 1, 2, 3, 7, 1.5, -2, 3, 2.5f, -4, 0x1000, 5, 6, 0x2000, 40, 64, 0x3000, 100, 0x4000, 5, 6,
                        32, stream));
    noted(double_unload(&d));
    if (noted(exp_load_file(&e, "exp.cubin")) != CUDA_SUCCESS) return 1;
    noted(exp_grid(&e, 100000, 100, &grid_x));
    printf("grid %u\n", grid_x);
    noted(exp_grid(&e, 500, 63, &grid_x));
    printf("grid %u\n", grid_x);
    noted(exp_grid(&e, 0xFFFFFFFFu, 0xFFFFFFFFu, &grid_x));
    printf("grid %u\n", grid_x);
    noted(exp_launch(&e, grid_x, 1, 1, 63, 500, 0x5000, NULL));
    noted(exp_unload(&e));
    if (noted(main_load(&m)) != CUDA_SUCCESS) return 1;
    noted(main_unload(&m));
    return 0;
}
